#!/bin/sh
# Write a whole number as a Roman numeral: sh roman.sh 12
n=$1
case $n in
    ''|*[!0-9]*|0) echo "roman.sh: not a whole number above 0: $n" >&2; exit 2 ;;
esac
if [ "$n" -gt 3999 ]; then
    echo "roman.sh: too large, 3999 at most: $n" >&2
    exit 1
fi

numeral=
while read -r value letters; do
    while [ "$n" -ge "$value" ]; do
        numeral=$numeral$letters
        n=$((n - value))
    done
done <<TABLE
1000 M
900 CM
500 D
400 CD
100 C
90 XC
50 L
40 XL
10 X
9 IX
5 V
4 IV
1 I
TABLE
echo "$numeral"
