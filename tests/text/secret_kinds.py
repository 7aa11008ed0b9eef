"""82 kinds of secrets in two halves: rules may be written for the first, the second only measures.

Each kind draws a text, as a memory or a person would have it, and the value that must not lie
anywhere. They are put together from pieces, so that no scanner trips over this repository.
"""

import base64
import random
import string
from collections.abc import Callable

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "_-"
STD64 = ALNUM + "+/"
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SEED_TEXT = """
abandon ladder cactus velvet orbit puzzle maple tunnel wagon zebra garlic lemon honey island jacket
kitten lunar mango nephew olive panda quarter ribbon saddle timber useful
"""
SEED_WORDS = SEED_TEXT.split()


class Draw(random.Random):
    """`draw(alphabet, n)` is n characters of it."""

    def __call__(self, alphabet: str, count: int) -> str:
        return "".join(self.choice(alphabet) for _ in range(count))

    def word(self, syllables: int = 4) -> str:
        return "".join(self(CONSONANTS, 1) + self(VOWELS, 1) for _ in range(syllables))

    @property
    def weak(self) -> str:
        """What people choose: a word and some digits."""
        return self.word() + self(string.digits, 2)

    @property
    def strong(self) -> str:
        return self(ALNUM, 6) + self("!#%^*+", 1) + self(string.digits, 2) + self(ALNUM, 3)

    @property
    def uuid(self) -> str:
        return "-".join(self(HEX, count) for count in (8, 4, 4, 4, 12))


Kind = Callable[[Draw], tuple[str, str]]


def token(form: str, made: Callable[[Draw], str]) -> Kind:
    """A sentence with a value that shows by itself what it is."""

    def draw(r: Draw) -> tuple[str, str]:
        value = made(r)
        return form.format(value), value

    return draw


def weak(form: str) -> Kind:
    return token(form, lambda r: r.weak)


def strong(form: str) -> Kind:
    return token(form, lambda r: r.strong)


def pem(name: str) -> Kind:
    def draw(r: Draw) -> tuple[str, str]:
        body = "\n".join(r(STD64, 64) for _ in range(4))
        head = f"{name} PRIVATE " + "KEY"
        head += " BLOCK" if name == "PGP" else ""
        gap = "\n" if name == "PGP" else ""
        return f"-----BEGIN {head}-----\n{gap}{body}\n-----END {head}-----", body[:64]

    return draw


def basic(r: Draw) -> tuple[str, str]:
    value = base64.b64encode(f"deploy:{r.strong}".encode()).decode()
    return (
        f'~/.docker/config.json has "auths": {{"registry.internal": {{"auth": "{value}"}}}}',
        value,
    )


def seed_phrase(r: Draw) -> tuple[str, str]:
    value = " ".join(r.sample(SEED_WORDS, 12))
    return f"The seed phrase of the wallet is {value}.", value


def recovery_codes(r: Draw) -> tuple[str, str]:
    codes = [f"{r(HEX, 5)}-{r(HEX, 5)}" for _ in range(4)]
    return "Recovery codes of the admin account: " + " ".join(codes), codes[0]


# What finds a token by its format, and how one is made.
TOKENS: dict[str, Callable[[Draw], str]] = {
    "aws-access-key": lambda r: "AK" + "IA" + r(UPPER, 16),
    "aws-secret-key": lambda r: "aws_secret_access_key = " + r(STD64, 40),
    "github-token": lambda r: "gh" + r("pousr", 1) + "_" + r(ALNUM, 36),
    "github-fine-grained-token": lambda r: "github" + "_pat_" + r(ALNUM, 22) + "_" + r(ALNUM, 59),
    "gitlab-token": lambda r: "gl" + "pat-" + r(URL64, 20),
    "slack-token": lambda r: "xo" + "xb-" + r(string.digits, 12) + "-" + r(ALNUM, 24),
    "slack-webhook": lambda r: "https://hooks.slack.com" + "/services/T" + r(UPPER, 30),
    "stripe-key": lambda r: "sk" + "_live_" + r(ALNUM, 24),
    "stripe-webhook-secret": lambda r: "whs" + "ec_" + r(ALNUM, 32),
    "anthropic-key": lambda r: "sk-" + "ant-api03-" + r(URL64, 93) + "AA",
    "openrouter-key": lambda r: "sk-" + "or-v1-" + r(HEX, 64),
    "openai-key": lambda r: "sk-" + r.choice(["proj-" + r(URL64, 48), r(ALNUM, 48)]),
    "google-api-key": lambda r: "AI" + "za" + r(URL64, 35),
    "google-oauth-secret": lambda r: "GOC" + "SPX-" + r(URL64, 28),
    "npm-token": lambda r: "np" + "m_" + r(ALNUM, 36),
    "pypi-token": lambda r: "py" + "pi-AgEIcHlwaS5vcmc" + r(URL64, 70),
    "sendgrid-key": lambda r: "S" + "G." + r(URL64, 22) + "." + r(URL64, 43),
    "twilio-key": lambda r: "S" + "K" + r(HEX, 32),
    "telegram-bot-token": lambda r: r("123456789", 9) + ":A" + "A" + r(URL64, 33),
    "discord-bot-token": lambda r: "M" + r(ALNUM, 23) + "." + r(URL64, 6) + "." + r(URL64, 38),
    "discord-webhook": lambda r: (
        "https://discord.com/api" + "/webhooks/" + r(string.digits[1:], 18) + "/" + r(URL64, 68)
    ),
    "digitalocean-token": lambda r: "do" + "p_v1_" + r(HEX, 64),
    "databricks-token": lambda r: "da" + "pi" + r(HEX, 32),
    "huggingface-token": lambda r: "h" + "f_" + r(ALNUM, 34),
    "azure-storage-key": lambda r: "Account" + "Key=" + r(STD64, 86) + "==",
    "azure-client-secret": lambda r: r(ALNUM, 3) + "8" + "Q~" + r(URL64, 34),
    "shopify-token": lambda r: "shp" + "at_" + r(HEX, 32),
    "mailgun-key": lambda r: "ke" + "y-" + r(HEX, 32),
    "linear-key": lambda r: "lin" + "_api_" + r(ALNUM, 40),
    "vault-token": lambda r: "hv" + "s." + r(URL64, 95),
    "grafana-token": lambda r: "gl" + "sa_" + r(ALNUM, 32) + "_" + r(HEX, 8),
    "docker-token": lambda r: "dckr" + "_pat_" + r(URL64, 27),
    "groq-key": lambda r: "gs" + "k_" + r(ALNUM, 52),
    "google-oauth-token": lambda r: "ya" + "29." + r(URL64, 120),
    "azure-sas-signature": lambda r: "?sv=2024&si" + "g=" + r(ALNUM, 43) + "%3D",
    "square-token": lambda r: "sq0" + "atp-" + r(URL64, 22),
    "mailchimp-key": lambda r: r(HEX, 32) + "-u" + "s12",
    "newrelic-key": lambda r: "NR" + "AK-" + r(UPPER, 27),
    "notion-token": lambda r: "nt" + "n_" + r(ALNUM, 46),
    "terraform-token": lambda r: r(ALNUM, 14) + ".atlas" + "v1." + r(URL64, 67),
    "doppler-token": lambda r: "dp" + ".pt." + r(ALNUM, 43),
    "supabase-token": lambda r: "sb" + "p_" + r(HEX, 40),
    "planetscale-token": lambda r: "pscale" + "_tkn_" + r(URL64, 43),
    "sentry-token": lambda r: "sntry" + "u_" + r(HEX, 64),
    "postman-key": lambda r: "PM" + "AK-" + r(HEX, 24) + "-" + r(HEX, 34),
    "rubygems-key": lambda r: "ruby" + "gems_" + r(HEX, 48),
    "age-key": lambda r: "AGE-" + "SECRET-KEY-1" + r(UPPER, 58),
    "xai-key": lambda r: "xa" + "i-" + r(ALNUM, 80),
    "replicate-token": lambda r: "r" + "8_" + r(ALNUM, 37),
    "perplexity-key": lambda r: "ppl" + "x-" + r(ALNUM, 48),
    "tailscale-key": lambda r: "ts" + "key-auth-" + r(ALNUM, 17) + "-" + r(ALNUM, 32),
    "atlassian-token": lambda r: "ATA" + "TT3xFfGF0" + r(URL64, 180),
    "airtable-token": lambda r: "pa" + "t" + r(ALNUM, 14) + "." + r(HEX, 64),
    "figma-token": lambda r: "fig" + "d_" + r(URL64, 40),
    "putty-key": lambda r: (
        "PuTTY-" + "User-Key-File-3: ssh-ed25519\nEncryption: none\n" + r(ALNUM, 20)
    ),
    "jwt": lambda r: "eyJ" + r(URL64, 33) + ".eyJ" + r(URL64, 60) + "." + r(URL64, 43),
    "private-key": lambda r: pem(r.choice(["RSA", "EC", "OPENSSH"]))(r)[0],
    "password": lambda r: r.choice(["password = ", "DB_PASSWORD=", "pw: "]) + f'"{r.strong}"',
    "password-in-url": lambda r: f"postgres://app:{r(ALNUM, 14)}@db.internal:5432/prod",
    "secret-assignment": lambda r: (
        r.choice(["api_key: ", "CLIENT_SECRET=", "token = "]) + r(ALNUM, 32)
    ),
    "authorization-header": lambda r: "Authorization: Bearer " + r(HEX, 40),
}

USES = "The nightly job on the builder uses {} for uploads."


def of_format(*names: str) -> dict[str, Kind]:
    """Those whose text ends in the value that must not lie anywhere."""

    def kind(name: str) -> Kind:
        def draw(r: Draw) -> tuple[str, str]:
            made = TOKENS[name](r)
            return USES.format(made), made.split()[-1]

        return draw

    return {name: kind(name) for name in names}


DEVELOP: dict[str, Kind] = {
    **of_format("github-token", "aws-access-key", "stripe-key", "anthropic-key", "google-api-key"),
    **of_format("npm-token", "slack-token", "jwt", "gitlab-token"),
    "rsa key": pem("RSA"),
    "hubspot": token(USES, lambda r: "pat" + "-na1-" + r.uuid),
    "sonarqube": token(USES, lambda r: "sq" + "p_" + r(HEX, 40)),
    "pulumi": token(USES, lambda r: "pu" + "l-" + r(HEX, 40)),
    "dropbox": token(USES, lambda r: "sl" + ".B" + r(URL64, 130)),
    "mapbox": token(USES, lambda r: "sk" + ".eyJ1Ijoi" + r(ALNUM, 40) + "." + r(URL64, 22)),
    "contentful": token(USES, lambda r: "CFP" + "AT-" + r(URL64, 43)),
    "cloudflare": token("CF_API_TOKEN={}", lambda r: r(URL64[:-1], 40)),
    "database variable": weak("The staging box is started with DB_PASS={}"),
    "prose": weak("the admin password is {}"),
    "yaml": weak("db:\n  user: shop\n  password: {}\n"),
    "key as uuid": token("api_key: {}", lambda r: r.uuid),
    "netrc": weak("machine api.example.org login bob password {}"),
    "mysql": weak("Connect with mysql -h db1 -u root -p{} shop"),
    "german": weak("Ab jetzt ist das Passwort der Datenbank {}."),
    "french": weak("le mot de passe du serveur de test est {}"),
    "chinese": weak("数据库的密码是{}"),
    "pgpass": strong("~/.pgpass has db1.internal:5432:shop:app:{}"),
    "ado": strong("Server=db1;Database=shop;User Id=app;Pwd={};"),
    "wlan": weak("The WLAN in the office: SSID Shop, WPA2 key {}"),
    "pin": token("The PIN of the alarm is {}.", lambda r: r("123456789", 6)),
    "npmrc": token("//registry.internal/:_auth" + "Token={}", lambda r: r.uuid),
    "docker login": basic,
    "piped to sudo": weak("On the builder: echo {} | sudo -S systemctl restart shop"),
    "recovery codes": recovery_codes,
    "totp": token(
        "otpauth://totp/shop:bob?sec" + "ret={}&issuer=shop", lambda r: r(UPPER[:26] + "234567", 32)
    ),
    "cookie": token("Cookie: session={}; theme=dark", lambda r: r(ALNUM, 40)),
    "key header": token("curl -H 'X-Api-Key: {}' https://api.internal", lambda r: r(HEX, 32)),
    "token in url": token("https://api.internal/v1?access_token={}", lambda r: r(ALNUM, 36)),
    "redis url": weak("redis://:{}@cache.internal:6379/0"),
    "seed phrase": seed_phrase,
    "django": token("SECRET" + "_KEY = '{}'", lambda r: r(ALNUM + "!@#%^&*(-_=+)", 50)),
}

APART: dict[str, Kind] = {
    **of_format("github-fine-grained-token", "sendgrid-key", "twilio-key", "pypi-token"),
    **of_format("huggingface-token", "telegram-bot-token", "aws-secret-key"),
    "openai": token(USES, lambda r: "sk-" + "proj-" + r(URL64, 48)),
    "pgp key": pem("PGP"),
    "openssh key": pem("OPENSSH"),
    "buildkite": token(USES, lambda r: "bk" + "ua_" + r(HEX, 40)),
    "netlify": token(USES, lambda r: "nf" + "p_" + r(ALNUM, 36)),
    "brevo": token(USES, lambda r: "xkey" + "sib-" + r(HEX, 64) + "-" + r(ALNUM, 16)),
    "dynatrace": token(USES, lambda r: "dt0" + "c01." + r(UPPER, 24) + "." + r(UPPER, 64)),
    "clojars": token(USES, lambda r: "CLO" + "JARS_" + r(HEX, 60)),
    "launchdarkly": token(USES, lambda r: "sd" + "k-" + r.uuid),
    "circleci": token("export CIRCLE_TOKEN={}", lambda r: r(HEX, 40)),
    "spanish": weak("la contraseña de la base de datos es {}"),
    "italian": weak("La password di produzione è {}"),
    "portuguese": weak("A partir de agora a senha do banco é {}"),
    "russian": weak("Пароль от базы данных: {}"),
    "japanese": weak("データベースのパスワードは{}です"),
    "korean": weak("데이터베이스 비밀번호는 {}입니다"),
    "turkish": weak("Veritabanı şifresi {}"),
    "polish": weak("Hasło do bazy to {}"),
    "swedish": weak("Lösenordet till databasen är {}"),
    "jdbc": strong("jdbc:mysql://db1:3306/shop?user=app&password={}&ssl=true"),
    "curl user": strong("curl -u deploy:{} https://api.internal/upload"),
    "psql variable": weak("PGPASSWORD={} psql -h db1 shop"),
    "ftp url": weak("ftp://backup:{}@files.internal/nightly"),
    "ansible": weak("ansible_become_pass: {}"),
    "json": token('{{"client_id": "shop", "client_secret": "{}"}}', lambda r: r(ALNUM, 32)),
    "xml": weak("<server><id>internal</id><password>{}</password></server>"),
    "ini": weak("[client]\nuser = shop\npassword = {}\n"),
    "passphrase": token(
        'The passphrase of the deploy key is "{}".', lambda r: " ".join(r.word(3) for _ in range(4))
    ),
    "keystore": weak("keytool -list -keystore app.jks -storepass {}"),
    "openssl": weak("openssl rsa -in key.pem -passin pass:{}"),
    "option": token("deployctl push --token {} --region eu", lambda r: r(ALNUM, 32)),
    "wireguard": token("[Interface]\nPrivateKey = {}=\n", lambda r: r(STD64, 43)),
    "said in passing": weak("when it asks, log in as ops with {} as the password"),
    "bearer": token("Authorization: Bearer {}", lambda r: r(ALNUM, 40)),
}

KINDS = {**DEVELOP, **APART}
