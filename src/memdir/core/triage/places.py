"""What a person tells of systems outside the repository, and of themselves."""

from __future__ import annotations

import re

from memdir.core.triage.forms import either, one_of
from memdir.core.triage.passing import is_chore

_SYSTEMS = one_of(
    r"""
    linear jira notion confluence grafana datadog sentry slack pagerduty figma looker metabase asana
    trello google_(?:docs?|drive|sheets?) sharepoint kibana honeycomb airtable miro opsgenie splunk
    new_?relic bigquery snowflake zendesk intercom youtrack basecamp clickup bugzilla gerrit
    phabricator jenkins buildkite argo_?cd launchdarkly unleash amplitude mixpanel discord ms_teams
    microsoft_teams github_(?:issues|projects?|discussions|wiki) gitlab_(?:issues|boards?|wiki)
    monday\.com shortcut productboard statuspage cloudwatch prometheus tableau power_?bi posthog
    1password bitwarden vault backstage dropbox outline coda wiki intranet dashboards? runbooks?
    playbook spreadsheet (?:bug_|issue_)?trackers? status_page shared_drive mailing_list
    kanban(?:_board)? storybook swagger read_?the_?docs obsidian redmine azure_devops servicenow
    飞书 钉钉 企业微信 语雀 石墨 禅道 腾讯文档 backlog kibela esa
    crashlytics firebase testflight play_console app_store_connect wandb w&b weights_&_biases mlflow
    hugging_?face kaggle databricks sagemaker dvc airflow perforce plastic_scm hack_?n_?plan codecks
    bloomberg refinitiv sap salesforce hubspot workday zoom loom canny discourse gitbook docusaurus
    terraform_cloud spacelift rancher consul harbor quay docker_hub ecr gcr (?:\w_)drive nas
    bitbucket artifactory nexus okta stripe_dashboard helpdesk lokalise crowdin phrase transifex
    """
)
_SYSTEM = re.compile(
    rf"(?<![a-z0-9_]){_SYSTEMS}(?![a-z0-9_])"
    rf"|(?<![\w&/])#[a-z][a-z0-9_-]{{2,40}}\b|\bchannel ·"
)
_ADDRESS = re.compile(
    r"\b(?:https?://|go/)(?!localhost|127\.|0\.0\.0\.0)[\w.-]{2,200}\S{0,300}"
    r"|\b(?:[\w-]{1,40}\.){1,3}(?:internal|corp|intra|atlassian\.net|lan|local"
    r"|slack\.com)\b\S{0,200}"
)
_THERE = one_of(
    "in on at under into to via through with from inside im in_der unter auf en dans sur sous chez"
)
_KEPT = either(
    rf"""
    (?:'s|is|are|gets?|being|go(?:es)?|lives?|kept|stays?|stands?|sits?|ends? up|end|land|lands|
    +happens?|comes?|come) [^.;?]{{0,60}}\b{_THERE}\b
    (?:tracked|documented|filed|reported|logged|hosted|published|listed|stored|managed|announced|
    +discussed|recorded|maintained|posted|collected|written up|signed off|
    +approved)\b[^.;?]{{0,60}}\b{_THERE}\b
    we (?:\w+ )?(?:track|file|report|log|keep|document|post|announce|store|discuss|manage|plan|
    +collect|use|have|host) [^.;?]{{0,80}}\b(?:{_THERE}|for)\b
    you(?:'ll| can| will)? (?:find|see|look up|get)\b
    (?:can be found|is where|are where|that'?s where|where we|where the|source of truth|
    +single source|canonical)\b
    (?:look|check|ask|go|see|ping|search|consult)\b[^.;?]{{0,120}}\b(?:for|if|when|before|whenever|
    +about|first)\b
    for [^.;?]{{3,60}},? (?:ask|look|check|ping|go|we have|there'?s|there is|use|see|go to|we use)\b
    (?:look|check|ask|go|post|write|report|ping|complain|escalate) (?:in|on|at|to|into)\b
    (?:if|when|whenever|before) [^.;?]{{3,120}}\b(?:look|check|ask|go|see|ping|search|consult|
    +open)\b
    (?:is|are) (?:the|our) [^.;?]{{0,60}}\b(?:dashboard|board|tracker|channel|runbook|wiki|docs?|
    +page|spec|place|source|space|project)\b
    (?:the |our )?[\w -]{{3,50}}(?::|->|=>|→|=) ?\S
    [\w -]{{0,30}}(?:->|=>|→) ?\S
    (?:is|are) (?:the )?(?:only )?(?:truth|reference|authoritative|canonical|up to date|current|
    +master)\b
    (?:slack|jira|tracker|wiki|backlog|chat|board|repo) (?:for|is|are)\b
    (?:project|board|space|channel|epic|component|queue|workspace|dashboard|doc|page|folder)
    + (?:for [^.;?]{{1,40}} )?(?:is|are|=)
    (?:findest|findet|tracken|pflegen|verwalten|führen|melden|liegen|liegt|stehen|steht|werden|wird|
    +sind|ist|dokumentiert|trackt)\b
    (?:est|sont|se trouve\w*) (?:sur|dans|sous|chez)\b
    è (?:su|sul|sulla|in|nel|nella)\b
    (?:ficam?|fica|está|tá|si trovano?|stanno|sono|trovi|trova|achas?|encontra|vão) (?:n[oa]s?|em|
    +su|sul|
    +sulla|in|nel|nella|lá)\b
    (?:está|están|se reportan|se registran|se gestionan|viven|vive|sont|se trouvent?|suivis?|
    +documentés?)\b
    在
    记录
    管理
    にあ[るり]
    """
)
_SEEN = either(
    r"""
    (?:i|we) (?:just )?(?:saw|see|found|got|noticed|looked|checked|get|opened|clicked|had)\b
    (?:failing|fails?|broken|throws?|crash\w*|returns?|returned|is down|are down|500|404|timeout|
    +empty|slow|import(?:s|ed|ing)|api call|endpoint)\b
    """
)
_PART = re.compile(
    rf"{_SYSTEMS} (?:integrations?|client|sdk|plugin|api|components?|imports?|hooks?|webhooks?|logo"
    rf"|icon|button|config|init\w*|wrapper|library|package|module)\b"
)
# Where many things of a sort are kept is a system, whatever its name.
_KEEPING = re.compile(
    r"\b(?:bugs|issues|tickets|incidents|requests|docs|documentation|specs|designs|mockups|alerts"
    r"|metrics|logs|feedback|roadmap|releases|requirements|decisions|notes|reports|models|datasets"
    r"|experiments|assets|translations|postmortems|tasks|schematics|backups|runs|results|dashboards"
    r"|crashes|errors|traces|recordings|measurements|datasheets|drawings|builds|artifacts|images"
    r"|invoices|contracts|tests?[- ]plans?) (?:are |is |get |gets )?(?:all "
    r"|now |still |always )?(?:kept|tracked|collected|managed|filed|reported|documented|discussed"
    r"|hosted|stored|logged|published|maintained|planned|live|lives|uploaded|archived|go|goes"
    r"|show up|end up|appear|land|arrive|come in|sit|available|visible) "
    r"(?:in|on|at|to|via|with|into|under) (?!the (?:repo|code|src|same|db|database)|this|that"
    r"|memory"
    r"|a |an |src|docs/|main|json|yaml|csv|python|[\w/]+\.\w)[\w'·-]{2,30}"
    r"|(?:记|放|存|写|发|提|挂|传|维护)(?:在|到) ?[a-z][a-z0-9_.-]{2,20}"
)
_FILE = re.compile(r"(?<![\w:/.])(?:\./)?(?:[\w.-]{1,40}/){1,8}[\w.-]{1,60}\.\w{1,5}\b")
_WORK = re.compile(
    r"\b(?:github|gitlab)\.com/\S{1,200}/(?:pull|issues|merge_requests|blob"
    r"|commit)/"
)

_DEGREE = (
    r"(?:(?:actually|also|just|more|most|less|better|far|much|mostly|primarily|basically|really"
    r"|more of|quite|pretty|fairly|still"
    r"|very|by"
    r" trade|completely|totally|relatively|not|rather|kind of|sort of|originally|currently|new"
    r"|both) ){0,2}"
)
_NO_ROLE = (
    r"(?!bit\b|little\b|tad\b|fan\b|big fan|huge fan|idiot|moron|fool|dummy|few\b|lot\b|couple"
    r"|minute|while\b"
    r"|step|mess|firm|user who|believer|big believer|commit|day|week|hurry|branch|fresh|new|fork"
    r"|loop|meeting"
    r"|rush|good mood|different)"
)
_SELF = either(
    rf"""
    (?:i'?m|i am) {_DEGREE}an? {_NO_ROLE}(?:\w[\w/+#.'-]{{0,30}} ?){{1,5}}
    (?:i'?m|i am) {_DEGREE}the (?:\w[\w-]{{1,20}} ){{0,3}}(?:lead|owner|manager|maintainer|engineer|
    +developer|dev|architect|designer|cto|ceo|founder|pm|author|admin|head|person|guy|one (?:who|
    +that))\b
    (?:(?:junior|senior|staff|principal|lead|fellow|old|new|backend|frontend|front-end|back-end|
    +fullstack|full-stack|mobile|embedded|data|ml|game|infra|devops|qa|web|
    +long-time) ){{1,2}}\w+ here\b
    (?:dev|developer|engineer|designer|student|intern|researcher|analyst|scientist|admin|sre|pm|
    +tester|newbie|noob|beginner|founder|manager|architect|quant|trader|artist) here\b
    (?:^|[.,] ?)(?:i'?m )?new here\b
    (?:is|are|'s) my (?:first|second|third|main|weak|weaker|strong|stronger|native|only|day) \w
    i (?:do|write|work|code|build|develop) (?:[\w+#/-]{{2,20}} ){{0,4}}(?:mostly|mainly|usually|
    +normally|
    +for a living|by day)\b
    my (?:[\w+#-]{{1,20}} )?(?:[\w+#]{{1,12}}) (?:is|isn'?t|is not) (?:only |pretty |very |a bit |
    +quite |not )?
    +(?:ok|okay|rusty|weak|bad|basic|decent|limited|poor|great|so-so|terrible|solid|strong|shaky|
    +beginner)\b
    (?:black magic|a mystery|chinese|gibberish|rocket science|uncharted territory|
    +a foreign language)
    + (?:to|for) me\b
    (?:i'?m|i am) (?:actually |just |only )?the (?!other|order|number|error|user|owner of this|
    +parser|header|
    +footer|master|first|last)(?:\w+ )?[a-z]{{3,14}}(?:er|or|ist|ian|ect|ead|ief)\b
    (?:mostly|mainly|more of|primarily|really|just) an? [\w-]{{2,20}} (?:guy|gal|dev|developer|
    +person|
    +engineer|shop|user)\b
    i'?ve been an? (?:\w[\w-]{{1,20}} ){{1,3}}(?:for|since)\b
    i (?:only|just) have (?:my|an?|one|limited|\d) ?(?!question|problem|issue|idea|thing|error|
    +bug)\w
    (?:i'?m|i am) (?:using|typing|working) (?:on |with )?an? (?:[\w-]+ )?(?:layout|keyboard|
    +screen reader|laptop|
    +chromebook|ipad|tablet|phone|machine)\b
    (?:trained as|studied|degree in|phd in|self-taught)\b
    i have (?:dyslexia|adhd|autism|rsi|carpal|low vision|bad eyes|poor eyesight|a (?:visual|hearing|
    +disability|slow|small|metered))
    (?:i'?m|i am) on an? (?:slow|metered|old|small|tiny|corporate|locked|weak|bad|limited|m[1-4]|
    +\d+ ?gb)\b
    (?:i'?m|i am) (?:the )?(?:only|sole|solo|one-person|single) \w
    (?:i'?m|i am) {_DEGREE}(?:new (?:to|here|at)|unfamiliar with|familiar with|comfortable with|
    +fluent in|learning|responsible for|in charge of|based in|colou?r[- ]?blind|dyslexic|deaf|
    +left-handed|rusty|an expert|proficient|experienced|self-taught|on call|on windows|on linux|
    +on (?:a )?mac|coming from|on the \w+ (?:team|side))\b
    i'?ve (?:been|only|mostly|mainly|never|always|just) (?:been )?(?:writing|doing|using|working|
    +coding|programming|building|used|touched|written|worked|done|programmed|joined|started|learned|
    +maintaining|leading)\b(?! (?:on )?(?:this|it|that)\b)
    i (?:have(?:n'?t| not)|haven't) (?:ever |really )?(?:used|touched|written|worked|done|
    +programmed|looked at) (?!this|that|it\b|the (?:logs?|tests?|diff|code|output))\w
    i (?:mostly |mainly |usually |also |only |actually |currently )?(?:work (?:as|on the|in|at|for|
    +with|from|mostly|mainly|part)|come from|own the|lead (?:the|a)|manage (?:the|a)|maintain|
    +run (?:the|a) (?:\w+ )?(?:team|infra\w*|platform|company|project|department|group|shop)|teach|
    +speak|study|joined|do (?:mostly|mainly)|write (?:mostly|mainly)|live in|use (?:a screen reader|
    +vim|emacs|neovim|windows|linux|wsl|fish|dvorak))\b
    i (?:don'?t|do not|barely|hardly) (?:really )?(?:know|speak|understand|write|do) (?:any |much |
    +a lot of |enough |a thing about )?(?!what|why|how|if|where|whether|who|which|that|yet|the |
    +this|it\b|anything)\w
    i know (?:\w[\w+#./-]{{0,20}} ){{1,4}}(?:well|inside|very|by heart|deeply|but|better|fluently|
    +pretty)
    i have (?:a (?:phd|degree|background|masters?)|no (?:experience|background|clue about)|
    +never (?:used|written|worked|done|touched)|
    +\d{{1,2}}\+? years|(?:ten|twenty|five|fifteen) years|(?:little|zero|lots of|a lot of|some|deep|
    +limited) (?:experience|knowledge|background))
    you(?:'re| are) talking to an? \w
    i (?:mostly |mainly |only |usually )?do (?:[\w+/#-]{{2,20}} ){{0,2}}[\w+/#-]{{2,20}}(?:, not|
    + and not|
    + all day| by day| for work| at work| professionally)\b
    (?:isn'?t|is not|'s not) my (?:first|native|main|strongest|best) \w
    my (?:main |day |actual |real )?(?:background|role|job|day job|title|expertise|timezone|
    +time zone|native language|
    +main language|first language|first (?:week|day|month|job|project|time)|experience|team (?:is|
    +owns|does|builds|runs))\b
    (?:my name is|call me|my pronouns)\b
    (?:this|it)(?:'s| is) my first (?:time|week|project|day|go|rust|python|real)\b
    first time (?:i(?:'m|'ve)?|with|using|touching|working|doing|writing|seeing)\b
    (?:ten|twenty|fifteen|five|six|eight|\d{{1,2}}\+?) years (?:of|in|with|as|doing|writing|on)\b
    i (?:\w+ ){{1,6}}for (?:about |over |almost |nearly )?(?:\w+ )?(?:years|a decade|decades)\b
    (?:for a living|my (?:career|profession)|by (?:trade|training|profession))\b
    (?:skip|no need (?:for|to explain)) the (?:\w+ ){{0,2}}(?:basics|fundamentals|intro)\b
    (?:is|are|'s) (?:all |pretty |quite |totally )?(?:new|foreign|greek) (?:to|for) me\b
    coming from (?:a )?\w+(?: background)?,
    (?:quick intro|about me|a bit about me|me in short)\b
    (?:isn'?t|not) (?:really |exactly )?my (?:strong suit|strength|area|field|thing|forte|world|job|
    +expertise)\b
    ich bin (?!mir|nicht|gerade|dabei|fertig|sicher|der meinung|noch nicht|dafür|dagegen|gleich|
    +ja )\w
    ich (?:arbeite (?:als|im|in|seit|bei|an der)|kenne mich|komme aus|habe (?:noch nie|
    +keine erfahrung|wenig)|programmiere|leite|betreue|lerne)\b
    (?:soy|yo soy) (?!el que|consciente)\w
    (?:trabajo (?:como|en)|llevo .{{2,30}} años|nunca he|vengo de|no (?:sé|conozco) (?:mucho|casi|
    +nada))\b
    je suis (?!d'accord|sûr|en train|pas sûr|désolé|bloqué|perdu)\w
    je (?:travaille (?:comme|dans|chez|en)|n'ai jamais|débute|viens d[eu]|m'occupe|ne connais pas)\b
    (?:sou (?:um|uma|o|a)?|trabalho (?:como|na|no)|sono un\w?|lavoro (?:come|in)|ik ben (?:een)?|
    +ik werk|я (?:работаю|разработчик|новичок)) \w
    我是(?!说|否|不是|想|指|在|要)
    我(?:负责|从事|刚(?:开始)?学|没用过|不熟|主要做|来自|对.{{1,12}}不熟)
    私は.{{1,30}}(?:です|者|担当|エンジニア)
    (?:初めて|初心者|担当者?|経験が?(?:ない|浅い|あります))(?:です|なので|ので)?
    저는
    """
)
_STATE = either(
    r"(?:i'?m|i am) (?:a|an) (?:\w+ )?(?:idiot|confused|lost|stuck|bit|little|few|step|commit"
    r"|couple)\b"
)


# A name nobody has told us of is a system all the same, where things are kept in it.
_NAMED = re.compile(
    r"\b(?:lives?|tracked|documented|managed|kept|stored|filed|hosted|maintained|collected|reported"
    r"|published|defined|planned) (?:\w{2,12} ){0,2}(?:in|on|at|under) (?:the "
    r"|our )?[A-Z][a-z]{2,20}\b"
)


# `when it is down, ask in …` tells of no fault that there is.
_IN_CASE = re.compile(r"\b(?:when(?:ever)?|if|in case|before|wenn|falls|si|cuando|quand|se)\b")


def points(bare: str, text: str) -> bool:
    """Where something is found outside the repository."""
    address = _ADDRESS.search(text.lower())
    if _WORK.search(text.lower()) or (_FILE.search(bare) and not address):
        return False
    bare = _ADDRESS.sub("there", bare)  # its dots end no sentence
    if (
        not (address or _SYSTEM.search(bare) or _NAMED.search(text) or _KEEPING.search(bare))
        or not (_KEPT.search(bare) or _KEEPING.search(bare))
        or _PART.search(bare)
        or (_SEEN.search(bare) and not (_IN_CASE.search(bare) or _KEEPING.search(bare)))
    ):
        return False
    return not is_chore(bare) or bool(
        re.search(r"\b(?:when(?:ever)?|if|before|for context)\b", bare)
    )


def tells_of_self(bare: str) -> bool:
    """Role, knowledge, circumstances of the person."""
    return bool(_SELF.search(bare)) and not _STATE.search(bare)
