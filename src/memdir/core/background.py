"""How common a word is in memories at large, whatever the store. Hot path.

Made by evals/background.py from 371 memories of 23 repositories; a word is here
when at least 3 of the repositories use it. Each line: how rare, then the stems.
"""

UNKNOWN = 5.0  # how rare a word is that is not listed
_TABLE = """
0 appli
0.5 file run test us
1 alreadi chang check code commit default doc everi exist feedback first fix git go line md
1 need never new on pass path plan pr project re read real review see user verifi work
1.5 accept actual ad add against alway api ask branch bug build call chain ci claud clean
1.5 command comment compos config confirm correct creat current design document edit env error
1.5 fail featur find flag full gate implement includ issu json keep land layer list live load
1.5 local main make match memori merg miss name non open option output pattern pre push refer
1.5 relat repo report requir resolv rule scope separ session set share ship silent skip sourc
1.5 spec state statu step still surfac task time tool two type updat vs write
2 across action agent assert audit author auto back base behavior block bodi break cach carri
2 case claim class close complet consist contain content context control count cross data
2 debug decis delet diff differ direct directli docker drift drop dure effect end engin entri
2 even exact exampl explicit explicitli failur fals field fixtur flow follow forc fresh
2 function gap gener genuin github green grep head histori hold hub id independ index insid
2 instead integr intern js key last later leav level log loop manual mechan mode modul move
2 multi next node note noth order origin parallel pars point port post prefer proven prs queri
2 rather red releas remov request resolut result return root rs say script section self server
2 servic sh shape show sinc singl skill snapshot specif split stale start stay stop string
2 tabl text three touch track true unit v2 valid valu var version wait way web whole wire
2 workflow wrong zero
2.5 activ alon anyth app architectur arg artifact assum attribut avoid bare baselin bash batch
2.5 binari broken built bump catch caught caus cleanup clear cli client cmd compil connect
2.5 contract convent copi core cost cover coverag cycl dead declar defect defer deliber depend
2.5 deriv descript detail dev develop dir directori disk diverg drive earlier either els emit
2.5 empti enabl endpoint entir environ etc everyth exactli except exec execut exit expect extern
2.5 fact fall fallback fast fetch final fine fire fold form format found free futur gh guard
2.5 hand handl happen har hard header helper hit hook http human ident import init input instal
2.5 io isol iter label lead left lib limit link lint liter logic longer look map matter mean
2.5 messag mid mod model multipl normal npm number ok old oper opt os overrid packag pariti part
2.5 persist phase pick plain plu poll posit preserv probe process produc propos public publish
2.5 pull pure question raw reach readi readm reason record ref refactor reject remain renam
2.5 render repeat replac respons rewrit round rout row runtim safe save scan schema seam second
2.5 secret seed select sequenc setup sever shell side signal small smoke socket src stack stage
2.5 structur style suit switch sync system tag take target templat thread ticket tier token
2.5 trace treat tree trigger trust ts ui unless v1 view visibl want warn watch window worktre
2.5 worth written yml
3 ab access act adapt addit address admin adr allow alongsid anchor anoth answer append approv
3 around assembl auth authorit autom automat autonom background bear becom behind belong best
3 bind bot bound boundari bundl bypass byte canon captur cd changelog cheap checkout cite
3 cleanli codex cold column com come common compat concern concurr configur conflict
3 constraint continu contradict convers curl cut day db decid dedic defin deleg demo dep
3 deploy describ detect devic disabl disciplin discov discoveri dispatch draft drain driven
3 driver ds duplic durabl earli enforc enough enumer especi event ever evid exercis expand
3 export expos extract fa filter finish flight fork forward frame fulli gitignor give global
3 goal gotcha graph guess guid half handler hardwar held home host ignor immedi impl initi
3 inject inlin insert instanc instruct intent investig invok item job kept kill known languag
3 larg latest leak legaci len librari linear lite locat lock long lookup machin made maintain
3 major manag mani mark max metadata method migrat min minor minut mirror mix mock motion ms
3 mutat narrow nativ network nnn none null num object observ often omit onto op otherwis
3 outsid overlay own owner page pair palett param parent patch payload perf perform perman
3 permiss pin ping place pointer polici preced prefix present previou primari principl print
3 prior product prompt protect protocol prove provid prune put python queue race ran rang
3 rebas recommend recur referenc regardless regist regress relev remot reserv reset resourc
3 rest restart restor resum reus revert ride right risk roadmap role rust safeti said search
3 semant send seq sequenti sha short sign signatur site size slow slug someth standalon
3 standard stat static storag store stream struct sub subscrib substitut success suggest
3 summari superpow supersed support surviv sweep symbol team temp thin thing timeout titl tmp
3 todo togeth top topic total transit transport trap trip trivial truth try turn twice unchang
3 unknown unrel url uuid v0 variabl variant verbatim verif what whenev whose win wrap wrapper
3 yaml
3.5 absenc absent accumul advanc ai ambigu analysi anywher appear applic arm array atom attempt
3.5 avail awar backend backlog better big blind bool box bridg bring browser budget bullet
3.5 callback caller candid cap capabl ceil channel checklist child choic chore chose clock clone
3.5 co codebas collaps collid collis combin commun compar complex concret condit conflat
3.5 connector const construct consult consum converg convert correctli counter crate creation
3.5 critic custom daemon dashboard databas date definit degrad demand depth diagnos diagnost
3.5 dirti discard discuss distinct domain doubl durat echo editor elsewher empir encod english
3.5 equal evalu exclud exclus explain extend extra famili ff fit flat flip floor fn four freez
3.5 frequent frozen gain given goe govern graphql group guidanc hardcod help high hoc html idea
3.5 identifi idl imag impli imposs improv inconsist individu infer infra inherit inspect intend
3.5 interact interfac interrupt introduc invari invert invis invoc join know layout learn led
3.5 legitim less lesson lever licens lifecycl like lose lost low lower ls mac macos markdown
3.5 master mcp measur mention minim mismatch mm modifi msg near neither net nois notif offset
3.5 optim orphan overwrit panel paramet parser partial past paus pend plausibl plugin polish
3.5 pool practic predic prevent privat proactiv problem profil program progress proof prose
3.5 purpos py pytest ql queu rais rate rational reachabl recent recov recoveri regener rel reli
3.5 reliabl repli reproduc revers rewritt roll sampl schedul scratch secur serial serv settl
3.5 shadow shift shim sibl simpl sit slice snippet someon sort sound space span stand stash
3.5 strategi stray strict strip stub stuck subag subscript succe succeed swap tail tell termin
3.5 themselv there theyr though tick today toler tri uncondition underli unlik unresolv untouch
3.5 unus up upgrad upload upstream usag v3 val verdict violat volum walk wall wast well went
3.5 whatev wide word ye
4 1b 5s abort abstract account accur ack adjac adopt ae affect agre alia alias align alloc
4 almost along anti anymor apart appar approach archiv arent argument arriv asset assign
4 assist assumpt async attach authent await away ax backup backward bad badg bake basenam
4 began begin behav behaviour benefit beyond bit blanket blast blob blocker bottom breakag
4 broke bulk bundler burn busi cadenc came cancel caveat cf char chase chat chosen churn clamp
4 claus clearli click clobber closur cloud codifi collabor color compact comparison compon
4 comprehens comput concept conclus confus consecut consid consolid constant contribut
4 contributor corrupt cours cp cpu crash credenti cs css ctrl ctx cursor de decod dedup deep
4 defens deferr delay deliv deliveri delta deni destruct determin determinist dict disagre
4 dist distinguish distribut dockerfil downstream dump e2e easi edg email embed enter enum
4 ephemer equival err escap establish eval eventu everywher exce exempt exhaust expens expiri
4 explor express face factual fake far fatal favor feat feed feedbackprworkflow feel filenam
4 fill five folder foreground forget framework front frontier frontmatt gc get glob gone
4 ground grpc guarante handoff harden hash healthi heavi hedg hide hint histor honest hygien
4 ideal ids inact incl incomplet increment indefinit info inform instantli int integ intention
4 intermedi invent jq judg judgment jump justifi kb lab lack late least leftov length li lift
4 light liner listen llm macro mandat mandatori manifest marker materi matrix mb meant menu
4 mergeabl mergestatestatus methodologi mi mind mislead moment motiv much multipli mvp
4 namespac narr natur nd necessari neg nest newli numer obviou older opposit orchestr ordinari
4 outcom overlap ownership pack pad paragraph pay peer period person phrase picker piec pipe
4 pipelin pitfal placehold plane play po pollut possibl power precis predict premis prep
4 pressur primit prioriti proc procedur projectstatus promis promot prop propag properti ps
4 qualiti quick quiet quirk quot rank rare react reactiv readabl reader realiti realli rebuild
4 receiv recip reconstruct redesign reduc refin reflect refresh refus registr registri
4 reintroduc remedi rememb reorder replay repositori restrict retir retri reusabl richer rm
4 router routin ruleset runnabl satisfi scaffold scalar scale screen seen selector sensit shot
4 shrink silenc similar simpli simul simultan six slash slip soft sometim special specifi spot
4 spread sq sqlite squash stabl statement sticki straight subject subsequ suffici sum suppli
4 suppress surpris suspect svg symlink synchron syntax tab tech temporari tend term third
4 threshold throw throwaway ti timestamp tini tip tl toggl toml toolchain trailer transact
4 transcript transform travel triag trim typescript typic unaffect unblock uncommit undefin
4 unifi uniform univers unreach unreli unsaf unsupport unsur untest untrack ur urls usual util
4 uv ux vet vision vitest warrant websocket whichev white widen wipe workaround workspac
4 writer wrote yield yourself zone
4.5 2nd 403s 5m abl accident accuraci aliv amend ap apis askuserquestion asymmetri attent b1
4.5 backstop band bc beat becam bigger bite blindli bonu brainstorm brief broader builder casual
4.5 cat categori charact cheaper cheapli checksum cherri children choos classic coalesc coexist
4.5 col collect complianc compress confid conveni correspond cosmet coupl decor deeper densiti
4.5 deprec desktop despit diagram discrimin disjoint download drill due dynam easier ed ef
4.5 effici elig elimin ensur era eras escal eslint ex exchang fan fd feasibl figur fixup flatten
4.5 footer forbidd forev formal fragil fs gather golden grace grant grow guardrail hang harder
4.5 harmless henc hidden incompat indic indirect instant intact interim interv ish kind knob
4.5 knowledg lag largest latenc latter launch lean let linux login loss lowercas machineri
4.5 meaning member mileston mini minimum mobil monitor nearli noisi notifi ns occurr org orient
4.5 orthogon outliv overal overflow overhead p2 pace packet paid platform plumb portabl predat
4.5 previous priorit probabl pullrequest random realiz recurs refram regex regular reinvent
4.5 relax respond restructur retain revis revisit rf ro robust rotat roughli runner sanction
4.5 sandbox sdk sens sent shas shouldnt shown sleep solid sonnet steadi substr suffix summar tax
4.5 tdd technic tension testabl theme therefor think thumb tidi tight tighten toward tracker
4.5 trade train transient travers trend truncat tsx tune tweak txt typecheck typo understand
4.5 unif union uniqu unmerg upper urgent v4 vari venv vx watcher wave weaken webhook weekli
4.5 width wiki worker wors xx
"""
_SPACED = _TABLE.replace("\n", " \n")  # so that each stem stands between two spaces


def rarity(stem: str) -> float:
    """Looked for in the text: a table of it would take longer to make than a prompt to answer."""
    at = _SPACED.find(f" {stem} ")
    if at < 0:
        return UNKNOWN
    start = _SPACED.rfind("\n", 0, at) + 1
    return float(_SPACED[start : _SPACED.index(" ", start)])
