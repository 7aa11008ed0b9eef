"""What a person tells of the project: its decisions, and who decides."""

from __future__ import annotations

import re

from memdir.core.triage.forms import either, one_of
from memdir.core.triage.passing import brief

_PARTIES = one_of(
    """
    legal security compliance management leadership product ops infra finance marketing auditors?
    the_(?:team|client|customer|board|cto|ceo|boss|platform_team|pm|vendor|business|designers?)
    the_(?:auditors?|lawyers?|works_council|dba|architects?|(?:data|mobile|backend|frontend)_team)
    the_(?:publisher|investors?|steering_committee|studio|partner|supplier|regulator|factory|sponsor)
    the_(?:bank|manufacturer|professor|supervisor|editor|university|agency|product_owner|union|court)
    my_(?:boss|manager|lead|team) our_(?:cto|ceo|client|customers?|lead|lawyers?|(?:security_)?team)
    """
)
_DECIDED = either(
    rf"""
    (?:we|they|{_PARTIES})(?:'ve| have| has)? (?:just |already |finally |all |now |
    +recently )?(?:decided|chose|chosen|agreed|settled|went with|picked|opted|committed to|
    +ruled out|rejected|killed|cancell?ed|axed|scrapped|shelved|cut|postponed|greenlit|
    +standardi[sz]ed|landed on|dropped|moved (?:to|off|away|from)|switched (?:to|
    +from|away|off)|migrated|gave up|abandoned|signed off|approved|adopted|deprecated|banned|wants?|
    +requires?|insists?|says?|said (?:no|that|we)|expects?|told us|refuse[sd]?|complain\w*|mandated|
    +vetoed|forbids?|asked (?:us|for)|flagged|won'?t (?:let|allow|
    +accept|approve|support))\b
    we(?:'re| are) (?:now |all |also |finally |slowly |officially )?(?:going with|moving (?!on|
    +forward)\w+|migrating|
    +switching|dropping|sticking (?:with|to)|staying (?:on|with)|replacing|phasing out|
    +standardi[sz]ing|sunsetting|deprecating|retiring|consolidating|ripping out|getting rid of|
    +killing|abandoning|betting on|freezing|not (?:going to )?(?:support|us|build|migrat|mov|do|
    +ship)\w*)\b
    (?:the )?decision (?:is|was|to)\b
    we(?:'re| are) an? (?:\w+ ){{0,3}}(?:team|company|startup|agency|shop|org|university|bank)\b
    (?:prod|production|staging|qa|the (?:servers?|cluster|devices?|runners?)) (?:runs?|is|are|has|
    +have|uses?|gets?|lives?|can'?t|only) (?!down|red|broken|failing|slow|stuck|up\b|green|dead|
    +back|still|not|throwing|returning|giving|now)\w
    (?:prod|production|staging|qa|ci|the (?:servers?|cluster|devices?|runners?|gateway|vendor|
    +provider|target|hardware|fleet|build (?:box|server|farm))|our \w+|their (?:side|api|
    +end)) (?:is|
    +are|'s)(?: all)? still (?:on|at|using|running|running on) \w
    (?:rate ?limits?|quota|budget|sla|licen[cs]e|retention|headcount|funding|credits|disk quota|
    +memory limit|power budget|frame budget|flash|ram)\b(?: \w+){{0,5}} (?:is|are|of|was|has|lets|
    +allows|
    +expires?|runs? out)\b (?:\w+ ){{0,3}}(?:\d|gone|spent|used up|exhausted|approved|tight|hard|
    +fixed|
    +only|limited|capped|us\b|no\b|not\b)
    the (?:whole |entire |main |real |only )?(?:point|purpose|goal|aim|motivation|driver|
    +idea) (?:of|
    +behind|for) [^.]{{2,60}} (?:is|was)\b
    decision:
    (?:it was|it's been|has been|was) (?:decided|agreed)\b
    the (?:plan|idea|goal|strategy|long[- ]term plan|intent) is (?:to|that)\b
    (?:are|is|being) (?:driven|mandated|required|motivated|requested|dictated) by\b
    (?:gdpr|hipaa|pci(?:[- ]dss)?|sox|soc ?2|iso ?27001|dsgvo|contractual(?:ly)?|regulat(?:or|ory|
    +ion)|licen[cs]ing|gpl|export control|data residency|audit requirement|compliance (?:reasons?|
    +requirement))\b
    in (?:our|the) (?:contract|sla|agreement)\b
    (?:the reason|reason (?:is|being|we)|that'?s why|this is why|which is why) (?:we|for|why|that|
    +is|behind|the|it)\b
    (?:intentional(?:ly)?|deliberate(?:ly)?|on purpose|by design)\b
    (?:was|were|turned out(?: to be)?|proved) (?:a |an |the )?(?:\w+ )?(?:mistake|dead end|disaster|
    +nightmare|failure|bad idea)\b
    we(?:'re| are) (?:going|moving|switching|rolling) back (?:to|from)\b
    (?:no point (?:in )?|not worth |no use |don'?t bother )\w+ing\b
    (?:the |our )?[\w-]{{2,20}}(?: [\w-]{{2,20}})? (?:refuses? to (?!log|start|work|connect|boot|
    +load|open|build|compile|run)|blocks?|forbids?|prohibits?|bans?|
    +only (?:allows?|accepts?|supports?|speaks?)|(?:doesn'?t|does not|won'?t) (?:allow|let us|
    +permit|support|
    +accept)) (?!me\b|it\b|this\b|that\b|the (?:form|page|button|thread|main|call|event))\w
    (?:off the table|out of the question|not going to happen|not happening|dead and buried)\b
    has (?:the )?(?:final|last) (?:say|word)\b
    (?:^|[.,;] )(?:went|going|sticking|stuck|chose|picked|opted|settled|switched|sticks?) (?:with|
    +on|for|to|away|off) [^.]{{2,80}}\b(?:because|since|as|due|cause|so that|for the|after)\b
    (?:company|org|organisation|organization|team|client|customer|agency|university|lab) (?:is|has|
    +was) (?:moving|switching|migrating|standardi[sz]ing|dropping|moved|switched|bought|banned|
    +decided|adopting|rolling)\b
    we (?:\w+ ){1, 8}(?:ruled|decided|chose|rejected|discarded|dismissed|settled|turned) (?:it|them|
    +that|on|against|out|to)\b
    we (?:tried|evaluated|considered|looked (?:at|into)|explored|discussed|
    +tested) [^.]{{3,120}}\b(?:but|and (?:it|that|the|we)|so|because|didn'?t|never|too|killed|not)\b
    (?:won'?t|doesn'?t|will not|refuses? to) (?:sign off|approve|accept|allow|let us)\b
    (?:pii|personal data|customer data|patient data) (?:must|should|may|can|never|has|cannot|
    +can'?t)\b
    we had to (?:pin|fork|vendor|patch|drop|disable|move|switch|stay|keep|roll)\b
    we (?:can'?t|cannot|may not|mustn'?t|must not|must|have to|need to) (?:use|support|keep|store|
    +ship|run|depend|add|upgrade|stay|share|log|send|break|drop|rely) [^.]{{2,120}}\b(?:because|
    +since|due|until|contract|legal|customers?|clients?|licen[cs]e|policy|still|anymore)\b
    (?:was|were|got) (?:considered|rejected|ruled out|dropped|discarded|vetoed|evaluated)\b
    (?:is|are) (?:rate[- ]?)?(?:limited|capped|restricted|throttled) to\b
    we have (?:a|an) (?:hard|strict|upper|fixed) \w
    (?:need|needs|require|requires) (?:her|his|their|my) (?:ok|okay|approval|sign-?off|blessing)\b
    our (?:\w+ )?(?:users|customers?|clients?|team|servers|partners?|vendor) (?:is|runs|uses|has|
    +needs|
    +wants|are (?:mostly|all|on|in|based|still|
    +mainly)|use|run|have|don'?t|can'?t|only|mostly|still|live|need|read)\b
    (?:is|are) (?:deprecated|legacy|end-of-life|being (?:replaced|retired|phased out|sunset)|
    +going away|on (?:its|the) way out|frozen)\b
    wir haben (?:uns )?.{{0,60}}(?:entschieden|beschlossen|geeinigt)
    (?:haben|hat|wurde) .{{0,40}}(?:beschlossen|entschieden)
    (?:hemos decidido|decidimos|se decidió|acordamos|hemos elegido|on a (?:décidé|choisi|opté)|
    +nous avons (?:décidé|choisi|opté)|decidiu|decidiram|abbiamo deciso|we hebben besloten|
    +мы решили)\b
    我们(?:已经|最终)?(?:决定|选择|采用|选了|商定)
    决定(?:用|采用|不|把|改)
    (?:こと|よう)に(?:した|しました|決め|なりました|なった)
    決(?:まりました|定しました|めました)
    採用(?:した|します|しました)
    """
)
_WHY = one_of(
    """
    because bc so_that otherwise due_to as_(?:the|we|our|it)
    since_(?:the|we|it|our|they|users|partners|customers) -_(?:the|we|it|they)
    """
)
_REASONED = re.compile(
    rf"\b(?:let'?s|we'?ll|we will|we should|i'?ll) (?:go|stick|stay) (?:with"
    rf"|on) [^.]{{2,120}}\b{_WHY}\b"
    rf"|\b(?:we|our team|they)(?:'re| are)? (?!need|should|could|want|can\b|might"
    rf"|have)\w{{2,20}} [^.]{{2,160}}\b{_WHY}\b"
    rf"|\b\w{{2,30}} (?:stays?|remains?) [^.]{{2,120}}\b{_WHY}\b"
)
_TROUBLE = either(
    r"(?:error|errors|bug|bugs|fail\w*|exception|null|undefined|crash\w*|broken|breaks?|wrong|get"
    r"|getting|see)\b"
)
_OWNS = re.compile(
    r"\b[A-Z][a-z]{2,20} (?:owns|maintains|runs|handles|reviews|approves|manages|leads|decides)\b"
    r"|\b(?:[Aa]sk|[Tt]alk to|[Pp]ing|[Cc]heck with"
    r"|[Ll]oop in) [A-Z][a-z]{2,20} (?:\w+ ){0,3}(?:about|for"
    r"|before|when|if|first)\b"
    r"|\b(?:owned|maintained|run|managed|reviewed) by [A-Z][a-z]{2,20}\b"
    r"|\b[A-Z][a-z]{2,20}(?:'s| is) (?:the |our )?(?:\w+ )?(?:owner|maintainer|lead|contact"
    r"|reviewer|responsible"
    r"|in charge|on call|tech lead|expert|go-to)\b"
)
_NOBODY = re.compile(
    r"^(?:It|This|That|There|The|What|He|She|We|They|You|Redis|React|Docker"
    r"|Postgres|Git)\b"
)


def decides(bare: str) -> bool:
    """A choice of the project, or the reason for one."""
    if brief(bare):
        return False
    if _DECIDED.search(bare):
        return True
    return bool(_REASONED.search(bare)) and not _TROUBLE.search(bare)


def names_owner(text: str) -> bool:
    """Who is in charge of what; asked of the text as it stands, for names have capitals."""
    found = _OWNS.search(text)
    return bool(found) and not _NOBODY.match(found[0] if found else "")
