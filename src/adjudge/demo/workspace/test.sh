#!/bin/sh
# Check roman.sh: prints each check that fails, then how many passed.
cd "$(dirname "$0")" || exit 1
passed=0 failed=0

check() {
    got=$(sh roman.sh "$1" 2>/dev/null)
    if [ "$got" = "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1 gives '$got', not '$2'"
    fi
}

check 1 I
check 3 III
check 6 VI
check 12 XII
check 73 LXXIII
check 1666 MDCLXVI
check 4 IV
check 9 IX
check 40 XL
check 90 XC
check 400 CD

echo "$passed of $((passed + failed)) checks pass"
[ "$failed" = 0 ]
