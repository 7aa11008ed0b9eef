"""Portuguese."""

from memdir.core.triage.forms import either, words
from memdir.core.triage.languages.language import Language

_ALWAYS = (
    r"(?:sempre|nunca|jamais|só|somente|apenas|nenhum\w?|tod[ao]s?|cada|em vez de|já não|não|mais)"
)

LANGUAGE = Language(
    small=words(
        """
        o os um uma não com em aqui sempre gente mas você isso são foi pra de da do que para por na
        no nas
        nos eu a as é até sem mais já ao só então tudo está
        """
    ),
    always=either(
        r"""
        (?:sempre|nunca|só|somente|apenas|nenhum\w?|em vez de)\b
        """
    ),
    custom=either(
        rf"""
        (?:aqui|neste (?:projeto|repo|time)|nesse (?:projeto|repo)|no (?:nosso )?(?:time|projeto)|
        +a gente|
        +nós),? [^.;?]{{2,140}}\b{_ALWAYS}\b
        (?:a gente|nós) (?:usa|usamos|evita|evitamos|prefere|preferimos|escreve|deixa|mantém|faz) \w
        (?:sempre|nunca|não) (?:\w+ )?\w{{2,16}}(?:amos|emos|imos)\b
        (?:não|nunca) (?!é\b|sei\b|há\b|tem\b|está|funciona|consigo|entendi|vi\b|foi\b|quero\b|dá\b)
        +(?:\w{{2,14}}(?:e|a|es|as|ar|er)) (?!bem|mal|que\b|isso|isto)\w[^.;?]{{3,120}}(?:,|
        +\bporque\b|
        +\bnunca\b|\bsempre\b|\bsem\b|\bno\b|\bna\b)
        (?:escreve|escreva|responde|responda|usa|use|faz|faça|mantém|mantenha) [^.;?]{{0,60}}
        +\b(?:sempre|nunca|em (?:inglês|português)|só)\b
        (?:então|por isso|logo) (?:não|nada|só|nunca|sempre|tudo|sem|evita|nem)\b
        , (?:não|e não) (?:em|n[oa]s?|com|por|d[eoa]s?|o|a|os|as|um|uma|npm|\w+)\b
        (?:não precisa|sem|evita|evite|evitar|nada de|chega de) [\wçãõáéíóúâê-]{{4,30}}
        \w{{2,16}}(?:-me)? sempre (?:com|em|n[oa]|um|uma|o|a|antes|por)\b
        (?:esse|essa|isso) (?:já )?(?:é|está|tá) (?:antig[oa]|velh[oa]|obsolet[oa]|
        +desatualizad[oa])\b
        (?:pergunta|pergunte|avisa|avise|fala comigo|fale comigo) (?:\w+ ){{0,2}}antes\b
        """
    ),
    decided=either(
        r"""
        (?:a gente|nós|o time|o cliente|a equipe|eles) (?:já )?(?:resolveu|decidiu|decidimos|optou|
        +escolheu|combinou|descartou|resolvemos|optamos|escolhemos|migrou|aprovou|abandonou|quer|
        +exige)\b
        (?:decidimos|resolvemos|optamos|combinamos|ficou (?:decidido|combinado|acordado)|
        +foi decidido)\b
        (?:produção|prod|o servidor|o cliente|os clientes|nosso cliente|o fornecedor) (?:roda|usa|
        +usam|
        +está|tá|ainda|só|tem|têm|quer|exige|não)\b
        em produção (?:temos|usamos|roda|ainda|tá|está)\b
        (?:de propósito|por causa da lgpd|por contrato|por questões? (?:legais|de compliance))\b
        (?:é|são) (?:o|a|os|as) responsáve(?:l|is)\b
        """
    ),
    liked=either(
        r"""
        (?:prefiro|detesto|gosto (?:mais )?de|odeio|acho melhor|não curto|não gosto)\b
        (?:me incomoda|me irrita)\b
        """
    ),
    told_of_self=either(
        r"""
        (?:sou|eu sou) (?!eu que|grato)[^.;?]{3,}
        (?:trabalho|venho|estou (?:aprendendo|começando)|tô (?:aprendendo|começando))
        + (?:com|como|n[oa]|em|de|d[oa]|há|sozinh[oa]|\w+)\b
        não (?:manjo|conheço|sei|entendo) (?:muito|nada|quase) \w
        """
    ),
    passing=either(
        r"""
        (?:talvez|quem sabe|poderíamos|não entendi)\b
        (?:erro\b|não funciona|quebr\w+|dá erro|falha\w*)
        (?:o|a|os|as|do|da|no|na) (?:botão|página|campo|tabela|lista|coluna|formulário|tela|
        +título)\b
        ^(?:adiciona|adicione|remove|remova|cria|crie|muda|mude|corrige|corrija|tira|tire|atualiza|
        +sobe|
        +gera|roda|explica|pode) (?!.{0,200}\b(?:sempre|nunca|toda vez)\b)
        """
    ),
)
