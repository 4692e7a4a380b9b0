import hashlib

import pytest

from adjudge.untrusted import count_secrets, shown

# Made up, but of the form that each issuer documents. Put together here so that no scanner takes this file for a leak.
KEYS = {
    "OpenAI": "sk-" + "proj-" + "Qw3rT7yU1opA5sdF9ghJ2klZ6xcV",
    "OpenAI, old": "sk-" + "9fK2mQ7tR4xW1zB8nC5vL3hJ6pD0sGyT",
    "Anthropic": "sk-" + "ant-api03-" + "k8Jd72hsLq9Zx0PwMn3-bVt5cRyF1gAe",
    "OpenRouter": "sk-" + "or-v1-" + "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "AWS": "AKIA" + "Z7QX4MNB2LKJ9HGF",
    "GitHub": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "GitHub, fine-grained": "github_pat_" + "11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789",
    "GitLab": "glpat-" + "x9Yw8Vu7Ts6Rq5Po4Nm3",
    "Google": "AIza" + "SyD4f8Gh2Jk6Lm0Np3Qr7St1Uv5Wx9Yz2Ab",
    "Slack": "xoxb-" + "123456789012-abcDEF456ghi",
    "Stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "Hugging Face": "hf_" + "AbCdEf0123456789GhIjKlMnOpQrStUvWx",
    "JWT": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJ4In0." + "c2lnbmF0dXJl",
}


@pytest.mark.parametrize("issuer", KEYS)
def test_a_key_is_masked_wherever_it_stands(issuer: str) -> None:
    key = KEYS[issuer]
    for text in (key, f"export KEY={key}\n", f'{{"key": "{key}"}}', f"curl -H 'X: {key}' https://host/"):
        assert key not in shown(text)
        assert count_secrets(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer q8Zk2Lm9Xw4Vb7Nc1Rt5",
        'password = "Tr0ub4dor&3x9"',
        "DB_PASSWORD=9fQ2x7Lm4Tz8",
        '{\\"api_key\\": \\"f3a9c1e7b5d2084c6a8e\\"}',
        "aws_secret_access_key = wJa1rXUtn2FEMI7K3MDENG8bPx4RfiCYz9kQ5tLm",
        "postgres://admin:s3cr3tP4ss9x@db.internal/app",
        "?secret=38ee77617c3a489ab6e871fbeb2ec87d",
    ],
)
def test_a_value_that_looks_like_chance_is_masked_after_a_telling_name(text: str) -> None:
    assert count_secrets(text) == 1
    assert "<secret:" in shown(text)


def test_a_private_key_is_masked_as_a_whole() -> None:
    block = (
        "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7x8Kq2\nZm9vYmFy0123456789\n-----END RSA PRIVATE KEY-----"
    )
    assert shown(f"before\n{block}\nafter").startswith("before\n<secret:")
    assert "MIIE" not in shown(block)
    assert shown(f"before\n{block}\nafter").endswith(">\nafter")


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "session 550e8400-e29b-41d4-a716-446655440000",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx1234abcd",
        "OPENAI_API_KEY=sk-...",
        "api_key = <your-key>",
        "password: ${DB_PASSWORD_2024_X1}",
        "max_tokens: 1024, prompt_tokens=123456789012",
        'tokenizer = "Qwen2.5-7B-Instruct-1M"',
        "token = get_token_v2(session3, retries4)",
        "password=/run/secrets/db1-2-3",
        "token expires: 2024-01-01T10:00:00Z",
        "secret = os.environ['SECRET_1A2B3C4D5E']",
        "pip install scikit-learn sk-learn-contrib-estimators",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "http://localhost:8080/a:b@c",
        "disk-usage-report-for-2024-q1-and-q2",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert count_secrets(text) == 0
    assert shown(text) == text


def test_a_mask_is_six_digits_of_the_credential_s_hash_so_that_equal_ones_look_equal() -> None:
    key = KEYS["GitHub"]
    mark = f"<secret:{hashlib.sha256(key.encode()).hexdigest()[:6]}>"
    assert shown(f"a {key} b {key}") == f"a {mark} b {mark}"


def test_masking_can_be_switched_off() -> None:
    assert shown(KEYS["GitHub"], mask=False) == KEYS["GitHub"]


def test_letters_that_grow_in_lower_case_do_not_shift_the_mask() -> None:
    assert "Tr0ub4dor" not in shown("İİİİ password=Tr0ub4dor&3x9 end")
    assert shown("İİİİ password=Tr0ub4dor&3x9 end").endswith("> end")
