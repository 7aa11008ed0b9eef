"""Memories and prompts in other languages than English, whose words take different forms."""

import pytest

from memdir.hot.recall import SURE
from tests.helpers.searching import Searched, memory

TOP = 3
LEADERS = 3  # as steps.recall looks at them
FOUND = 0.9  # share of a language's prompts whose memory must be among the first
SILENT = 0.1  # share of them that may wrongly get nothing

# By language: the memories (name, description, text), then prompts and the memory they are about.
Memories = dict[str, tuple[str, str]]
Prompts = list[tuple[str, str]]
CHINESE: tuple[Memories, Prompts] = (
    {
        "部署流程": ("生产环境的部署步骤", "先在预发布环境验证，再执行 deploy.sh；周五不发布。"),
        "数据库迁移": ("迁移脚本必须可以回滚", "每个迁移文件都要写 down 步骤，先备份再执行。"),
        "代码审查": ("合并请求的审查要求", "至少一个人批准，测试全部通过后才能合并。"),
        "日志规范": ("日志里不能打印用户密码", "敏感字段统一脱敏，使用结构化日志。"),
        "缓存策略": ("接口响应缓存五分钟", "Redis 失效时直接查询数据库，不要报错。"),
        "测试约定": ("集成测试使用真实数据库", "不要用模拟对象，测试容器会自动启动。"),
        "时区问题": ("所有时间都以 UTC 存储", "前端显示时再转换成用户的时区。"),
        "用户偏好": ("回答请用中文并保持简短", "不需要解释基础知识，直接给出代码。"),
        "支付接口": ("支付回调需要验证签名", "重复的回调必须幂等处理，订单号唯一。"),
    },
    [
        ("怎么把新版本部署到生产环境？", "部署流程"),
        ("今天是周五，可以发布吗", "部署流程"),
        ("迁移失败了，如何回滚数据库", "数据库迁移"),
        ("这个合并请求谁来审查", "代码审查"),
        ("我想把密码打印到日志里调试", "日志规范"),
        ("Redis 挂了接口会报错吗", "缓存策略"),
        ("写集成测试时能不能用模拟对象", "测试约定"),
        ("为什么显示的时间差了八小时，时区不对", "时区问题"),
        ("支付回调收到两次怎么办", "支付接口"),
        ("订单签名校验写在哪里", "支付接口"),
    ],
)
JAPANESE: tuple[Memories, Prompts] = (
    {
        "デプロイ手順": ("本番へのデプロイは承認が必要", "ステージングで確認してから本番に出す。"),
        "データベース移行": (
            "マイグレーションは必ず戻せるように書く",
            "実行前にバックアップを取る。",
        ),
        "レビュー方針": (
            "プルリクエストは小さく分ける",
            "レビューは二人以上、テストの後で。",
        ),
        "ログ出力": ("個人情報をログに出力しない", "メールアドレスはマスクする。"),
        "キャッシュ": ("検索結果は十分間キャッシュする", "更新時にキャッシュを削除すること。"),
        "テスト環境": ("結合テストは実際のデータベースで動かす", "モックは使わない。"),
        "文字コード": ("CSV は Shift_JIS で書き出す", "取引先のシステムが古いため。"),
        "回答の好み": ("説明は日本語で短く書く", "コード例を先に見せる。"),
        "認証": ("トークンの有効期限は一時間", "期限が切れたら再ログインさせる。"),
    },
    [
        ("本番環境にデプロイしたいのですが", "デプロイ手順"),
        ("マイグレーションを書くときの注意点は？", "データベース移行"),
        ("プルリクエストが大きくなりすぎた", "レビュー方針"),
        ("レビューは何人必要ですか", "レビュー方針"),
        ("メールアドレスをログに出したい", "ログ出力"),
        ("キャッシュが古いまま残っている", "キャッシュ"),
        ("結合テストでモックを使ってもいい？", "テスト環境"),
        ("CSVを書き出すと文字化けする", "文字コード"),
        ("トークンの期限が切れたらどうなる", "認証"),
        ("ログインし直す必要があるのはいつ", "認証"),
    ],
)
KOREAN: tuple[Memories, Prompts] = (
    {
        "배포 절차": ("운영 서버에 배포하는 순서", "스테이징에서 확인한 뒤 승인을 받고 배포한다."),
        "데이터베이스 마이그레이션": (
            "마이그레이션은 되돌릴 수 있어야 한다",
            "실행 전에 백업한다.",
        ),
        "코드 리뷰": ("리뷰어 두 명의 승인이 필요하다", "테스트가 통과해야 병합할 수 있다."),
        "로그 규칙": ("비밀번호를 로그에 남기지 않는다", "개인정보는 가린다."),
        "캐시 정책": ("검색 결과를 오 분 동안 캐시한다", "수정하면 캐시를 비운다."),
        "테스트 환경": ("통합 테스트는 실제 데이터베이스를 쓴다", "가짜 객체는 금지한다."),
        "시간대": ("모든 시간은 UTC로 저장한다", "화면에 보여줄 때 변환한다."),
        "응답 방식": ("대답은 한국어로 짧게", "예제 코드를 먼저 보여준다."),
        "결제 연동": ("결제 콜백의 서명을 검증한다", "같은 주문이 두 번 와도 한 번만 처리한다."),
    },
    [
        ("운영 서버로 배포를 어떻게 하나요?", "배포 절차"),
        ("배포하려면 누구의 승인을 받아야 해?", "배포 절차"),
        ("마이그레이션이 실패했는데 되돌리는 방법", "데이터베이스 마이그레이션"),
        ("코드 리뷰는 몇 명이 해야 하지", "코드 리뷰"),
        ("로그에서 비밀번호가 보여요", "로그 규칙"),
        ("캐시가 비워지지 않는 것 같아", "캐시 정책"),
        ("통합 테스트에서 가짜 객체를 써도 될까", "테스트 환경"),
        ("시간대가 이상하게 저장되고 있어", "시간대"),
        ("결제 콜백을 두 번 받았을 때는?", "결제 연동"),
        ("주문의 서명은 어디서 검증하나", "결제 연동"),
    ],
)
RUSSIAN: tuple[Memories, Prompts] = (
    {
        "Выкладка": ("порядок выкладки на боевые серверы", "Сначала проверка на стенде."),
        "Миграции": ("каждая миграция базы данных должна откатываться", "Перед запуском — копия."),
        "Ревью": ("запрос на слияние проверяют два человека", "Ветки короткие, коммиты мелкие."),
        "Логи": ("пароли пользователей никогда не пишем в журнал", "Почту скрываем."),
        "Кэш": ("ответы поиска храним в кэше пять минут", "После записи кэш очищается."),
        "Тесты": ("интеграционные тесты идут на настоящей базе", "Заглушки запрещены."),
        "Время": ("все даты храним в UTC", "Часовой пояс учитывается только при показе."),
        "Ошибки": ("сообщение об ошибке говорит, что делать дальше", "Трассировку не показываем."),
        "Платежи": (
            "подпись платёжного уведомления проверяется",
            "Повторные уведомления пропускаем.",
        ),
    },
    [
        ("как выложить новую версию на боевой сервер?", "Выкладка"),
        ("что проверить на стенде перед выкладкой", "Выкладка"),
        ("нужно откатить миграцию базы, как это сделать", "Миграции"),
        ("кто проверяет запросы на слияние", "Ревью"),
        ("в журнале видны пароли пользователя", "Логи"),
        ("почему не очищаются кэши поиска", "Кэш"),
        ("можно ли в интеграционном тесте использовать заглушку", "Тесты"),
        ("дата показывается в неверном часовом поясе", "Время"),
        ("какими должны быть сообщения об ошибках", "Ошибки"),
        ("пришло повторное уведомление о платеже", "Платежи"),
    ],
)
GERMAN: tuple[Memories, Prompts] = (
    {
        "Auslieferung": ("Reihenfolge beim Ausliefern auf die Server", "Erst die Testumgebung."),
        "Migrationen": ("jede Migration der Datenbank muss rückgängig zu machen sein", "Sichern!"),
        "Durchsicht": ("zwei Personen prüfen jede Änderung vor dem Zusammenführen", "Kurz halten."),
        "Protokolle": ("Passwörter stehen nie im Protokoll", "Adressen werden geschwärzt."),
        "Zwischenspeicher": ("Suchergebnisse bleiben fünf Minuten im Zwischenspeicher", "Leeren!"),
        "Prüfungen": ("Integrationstests laufen gegen eine echte Datenbank", "Keine Attrappen."),
        "Zeitzonen": ("alle Zeitpunkte werden in UTC gespeichert", "Umgerechnet wird zuletzt."),
        "Fehlermeldungen": ("eine Fehlermeldung nennt den nächsten Schritt", "Keine Spuren."),
        "Schnittstellen": ("Schlüssel der Schnittstelle laufen nach einem Jahr ab", "Erneuern."),
        "Tabellen": ("Namen von Tabellen stehen in der Einzahl", "Spalten klein geschrieben."),
    },
    [
        ("in welcher Reihenfolge liefern wir auf den Server aus?", "Auslieferung"),
        ("wie mache ich eine der Migrationen rückgängig?", "Migrationen"),
        ("wer prüft Änderungen, bevor sie zusammengeführt werden?", "Durchsicht"),
        ("im Protokoll steht ein Passwort", "Protokolle"),
        ("wie lange bleibt ein Suchergebnis zwischengespeichert?", "Zwischenspeicher"),
        ("brauchen die Integrationstests eine Attrappe der Datenbanken?", "Prüfungen"),
        ("in welcher Zeitzone speichern wir einen Zeitpunkt?", "Zeitzonen"),
        ("wie soll ich diese Fehlermeldungen schreiben?", "Fehlermeldungen"),
        ("der Schlüssel für die Schnittstellen ist abgelaufen", "Schnittstellen"),
        ("wie soll die neue Tabelle heißen, Einzahl oder Mehrzahl?", "Tabellen"),
    ],
)
LANGUAGES = {
    "Chinese": CHINESE,
    "Japanese": JAPANESE,
    "Korean": KOREAN,
    "Russian": RUSSIAN,
    "German": GERMAN,
}


@pytest.fixture(params=LANGUAGES)
def asked(request, tmp_path) -> list[tuple[str, str, list[str], float]]:
    """Each prompt, the memory it is about, what was found, and how sure the first ones are."""
    memories, prompts = LANGUAGES[request.param]
    searched = Searched(tmp_path)
    for number, (name, (description, text)) in enumerate(memories.items()):
        searched.write(f"m{number}.md", memory(name, description, text))
    search = searched.scan()
    answers = []
    for prompt, about in prompts:
        hits = search.find(prompt, 5).hits
        sure = max((hit.sure for hit in hits[:LEADERS]), default=0.0)
        answers.append((prompt, about, [hit.memory.name for hit in hits], sure))
    return answers


def test_the_memory_that_a_prompt_is_about_is_among_the_first(asked):
    missed = [one for one in asked if one[1] not in one[2][:TOP]]
    assert len(missed) <= (1 - FOUND) * len(asked) + 1e-9, missed


def test_a_prompt_with_a_memory_rarely_gets_nothing(asked):
    silent = [(prompt, sure) for prompt, _, _, sure in asked if sure < SURE]
    assert len(silent) <= SILENT * len(asked), silent


STRANGE = (
    *("明天天气怎么样", "今日の夕食は何", "주말 날씨 알려줘", "какая сегодня погода"),
    "wird das Wetter morgen gut",
)


def test_a_prompt_about_something_else_gets_nothing(asked, tmp_path):
    search = Searched(tmp_path).scan()
    for prompt in STRANGE:
        assert all(hit.sure < SURE for hit in search.find(prompt, 5).hits[:LEADERS]), prompt
