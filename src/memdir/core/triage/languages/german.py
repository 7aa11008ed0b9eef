"""German."""

from memdir.core.triage.forms import either, words
from memdir.core.triage.languages.language import Language

_ALWAYS = (
    r"(?:immer|nie|niemals|grundsätzlich|generell|stets|ausschließlich|nur|kein\w{0,2}|nicht"
    r"|überall|jedes mal|alle\w?|sondern|statt)"
)

LANGUAGE = Language(
    small=words(
        """
        der das und ist sind nicht wir ich ein eine einen mit für auf bei uns im zu den dem bitte
        immer
        nie kein keine keinen nur aber noch wird werden mir mich nee nein schon wenn weil die des
        von
        auch also ohne unser unsere unserem am bis ab vom zum
        """
    ),
    always=either(
        r"""
        (?:immer|nie|niemals|nur|kein\w{0,2}|nicht|grundsätzlich|ausschließlich|überall|statt|
        +sondern)\b
        """
    ),
    custom=either(
        rf"""
        (?:bei uns|hier im \w+|in diesem (?:projekt|repo|team)|im (?:team|projekt|repo))
        + [^.;?]{{2,140}}\b{_ALWAYS}\b
        (?:bei uns|in diesem (?:projekt|repo)) (?:ist|sind|heißt|heißen|läuft|laufen|gilt|gelten|
        +gehört|
        +gehören|kommt|kommen|wird|werden|macht|nimmt|schreibt|nutzt)\b
        (?:ist|sind|heißt|heißen|läuft|laufen|gilt|gelten|gehört|gehören|kommt|kommen|machen|nehmen|
        +schreiben|nutzen) (?:\w+ ){{0,2}}(?:bei uns|hier) \w
        wir (?!brauchen|müssten|sollten|könnten|wollen|haben ein)[a-zäöüß]{{3,20}} [^.;?]{{0,120}}
        +\b(?:immer|nie|niemals|grundsätzlich|generell|stets|ausschließlich|überall|kein\w{{0,2}}|
        +nicht|
        +nur|sondern|statt)\b
        (?:das|so was|sowas|so etwas) (?:machen|wollen|nutzen|benutzen|verwenden|
        +haben) wir (?:hier |
        +bei uns )?(?:nicht|nie|anders)\b
        (?:immer|grundsätzlich|generell|stets|niemals|nie) [^.;?]{{2,100}}\w{{2,}}en\b
        (?:bitte )?(?:nicht|nie|niemals|kein\w{{0,2}}) [^.;?]{{2,80}}\w{{2,}}(?:en|ern|eln)\b(?:,|
        +[.!]*$)
        (?:^|, |bitte )(?:kein\w{{0,2}}|nie wieder|nicht mehr) [a-zäöüß -]{{3,60}}(?:, (?:das|die|
        +wir|
        +sonst|weil|denn)|ohne|mehr\b| in |[.!]*$)
        [a-zäöüß-]{{4,30}}(?: [a-zäöüß-]{{3,20}})? bitte (?:auf|in|mit|ohne|als|nur|nicht|immer|nie|
        +klein|groß|getrennt|kurz|unter|nach)\b
        (?:deshalb|daher|deswegen|also|darum|somit) (?:bitte )?(?:kein\w{{0,2}}|nur|nicht|nie|immer|
        +alles|
        +nichts|müssen wir|dürfen wir|können wir|lieber)\b
        (?:veraltet|abgelöst|ersetzt|umbenannt|deprecated)\b[^?]{{0,100}}\b(?:jetzt|inzwischen|
        +mittlerweile|
        +neu|nun|stattdessen|durch)\b
        (?:inzwischen|mittlerweile|seit \w+) (?:auf|bei|mit|in|nutzen|haben|ist|sind)\b
        lass(?:t)? (?:bitte )?(?:die|das|den|diese|dieses) [^.;?]{{2,60}} (?:weg|in ruhe|sein)\b
        (?:gehört|gehören|kommt|kommen) (?:immer |bei uns |hier )?(?:nach|in|ins|unter|zu|vor)\b
        +[^.;?]{{2,80}}\bnicht\b
        (?:immer|jedes mal|stets) (?:mit|in|als|auf|wenn|erst|zuerst|vor|ohne)\b
        (?:vermeide|vermeiden|verzichte|spar dir) \w
        (?:du (?:kannst|musst|brauchst|sollst|darfst)) (?:\w+ )?(?:nicht|nie|immer|kein\w*)\b
        (?:dürfen|darf|müssen|muss) (?:\w+ ){{0,3}}(?:nie|niemals|immer|kein\w{{0,2}}|
        +nicht) [^.;?]{{2,100}}
        (?:regel|konvention|vorgabe|richtlinie|policy|standard) (?:ist|bei uns|hier|lautet|für)\b
        """
    ),
    decided=either(
        r"""
        wir (?:bleiben|wechseln|migrieren|steigen|stellen|setzen|verzichten|gehen|nehmen|bauen|
        +behalten)
        + [^.;?]{0,80}\b(?:bei|auf|um|von|weg|mit|nicht|erst|statt|komplett|jetzt)\b
        (?:haben|hat|hatten|wurde|wurden|ist|sind) [^.;?]{2,120}\b(?:entschieden|beschlossen|
        +geeinigt|
        +verworfen|abgelehnt|abgeschafft|umgestellt|festgelegt|abgestimmt|ausgemacht|vereinbart|
        +verschoben)\b
        (?:produktion|prod|produktiv|live-system|staging|der server|die server|das cluster|
        +der kunde|
        +unser kunde|unsere kunden|die kunden|unser \w+|der anbieter) (?:läuft|laufen|ist|sind|hat|
        +haben|
        +hostet|hosten|nutzt|nutzen|will|wollen|braucht|verlangt|kann|können|darf|unterstützt)\b
        (?:wird|werden|wurde|wurden) [^.;?]{0,60}\b(?:abgelöst|ersetzt|abgeschaltet|eingestellt|
        +migriert|
        +abgekündigt|ausgemustert)\b
        wegen (?:der |des |dem )?(?:dsgvo|datenschutz\w*|compliance|audit\w*|lizenz\w*|vertrag\w*|
        +betriebsrat\w*|kosten)\b
        (?:läuft|laufen) [^.;?]{2,60}\baus\b
        (?:grund (?:ist|dafür|war)|hintergrund(?::| ist)|absichtlich|mit absicht|bewusst so)\b
        (?:[a-zäöü]+ )?(?:ist|sind) (?:\w+ ){0,3}(?:zuständig|verantwortlich|ansprechpartner\w*)\b
        """
    ),
    liked=either(
        r"""
        (?:ich|mir|mich) [^.;?]{0,40}\b(?:lieber|gern(?:e)?|nervt|stört|wichtiger|gefällt|hasse|
        +bevorzug\w*)\b
        (?:hätte|würde) ich [^.;?]{0,40}\b(?:gern(?:e)?|lieber)\b
        (?:nervt|stört) mich\b
        lieber [^.;?]{2,60}\b(?:als|statt|und nicht)\b
        """
    ),
    told_of_self=either(
        r"""
        (?:ich bin|bin) (?:eigentlich |gerade |noch |ganz |relativ |selbst |hier |als )?(?:neu|
        +anfänger\w*|
        +\w*entwickler\w*|\w*ingenieur\w*|student\w*|\w*admin\w*|designer\w*|farbenblind|azubi|
        +werkstudent\w*|\w*wissenschaftler\w*|\w*leiter\w*|\w*mensch|product owner|der einzige|
        +die einzige|
        +allein\w*)\b
        (?:kenne|kenn) mich [^.;?]{0,40}\b(?:nicht|kaum|gut|wenig|null)\b
        ich (?:arbeite|programmiere|entwickle|mache|komme|lerne|leite|betreue|
        +schreibe) [^.;?]{0,40}\b(?:als|
        +seit|meist\w*|sonst|eigentlich|normalerweise|nachts|aus|hauptsächlich|bei|im)\b
        (?:neuland|absolutes neuland|nicht mein ding|nicht meine welt|mein fachgebiet)\b
        (?:seit|erst seit|schon) [^.;?]{1,20} (?:jahren|monaten|wochen) [^.;?]{0,40}\b(?:dabei|im|
        +als|mit|
        +in)\b
        """
    ),
    passing=either(
        r"""
        (?:vielleicht|eventuell|könnte|könnten|wäre schön)\b
        (?:(?:ein|den|der|diesen|einen|folgenden) fehler|fehler:|fehlgeschlagen|funktioniert nicht|
        +geht nicht|stimmt nicht|zu viel|zu wenig|läuft nicht|kaputt|schlägt fehl|rot)\b
        (?:tabelle|button|knopf|seite|feld|liste|spalte|formular|dialog|menü|überschrift)\w{0,2}
        + (?:soll|sollen|muss|müssen|darf)\b
        ^(?:bitte )?(?:entferne|füge|lösche|baue?|schreibe?|mach|ändere|erstelle|implementiere|
        +teste|prüfe|
        +zeige?|schau|räum|benenne|verschiebe|fixe?|erklär\w*|kannst|könntest|hab|gib|finde|such\w*)
        + (?!.{0,200}\b(?:immer|nie|niemals|grundsätzlich|jedes mal)\b)
        (?:gibt|zurückgibt|liefert) (?!.{0,80}\bbei uns\b)[^.;?]{0,60}(?:null|zurück|undefined)
        null zurück\w*
        (?:grad|gerade|eben|jetzt gleich|kurz) \w
        """
    ),
)
