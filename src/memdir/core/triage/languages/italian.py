"""Italian."""

from memdir.core.triage.forms import either, words
from memdir.core.triage.languages.language import Language

_ALWAYS = r"(?:sempre|mai|solo|soltanto|nessun\w?|tutt[ieoa]|ogni|invece di|non|più|unicamente)"

LANGUAGE = Language(
    small=words(
        """
        gli che di per sono è qui della nel anche se questo mai più noi ma lo il la i le un una non
        con su
        da al del alla in abbiamo fino solo sempre quindi col ai e
        """
    ),
    always=either(
        r"""
        (?:sempre|mai|solo|soltanto|nessun\w?|invece|ovunque)\b
        """
    ),
    custom=either(
        rf"""
        (?:qui|in questo (?:progetto|repo|team)|nel (?:nostro )?(?:team|progetto)|da noi)
        +,? [^.;?]{{2,140}}\b{_ALWAYS}\b
        (?:non|sempre|mai) (?:\w+ )?\w{{2,16}}iamo\b
        \w{{2,16}}iamo (?:sempre|solo|tutto|tutti|tutte|ogni|mai)\b
        (?:evitiamo|preferiamo|usiamo|scriviamo|teniamo) \w
        non (?:usare|fare|mettere|toccare|scrivere|aggiungere|committare|pushare|modificare|creare|
        +cambiare)
        + \w
        (?:scrivi|scrivili|scrivile|usa|metti|fai|tieni|rispondi|
        +rispondimi) [^.;?]{{0,60}}\b(?:sempre|
        +mai|in (?:inglese|italiano)|anche se|solo)\b
        (?:quindi|perciò|per questo|dunque) (?:non|niente|solo|mai|nessun\w?|sempre|tutto|meglio|
        +evita)\b
        , (?:non|e non) (?:in|con|per|d[iae]l?|il|la|i|gli|le|un|una|nel|nella|su)\b
        (?:niente|evita|evitare|basta con|senza) [\w-]{{4,30}}
        (?:sono|è|vanno|va|restano|resta) (?:sempre|solo|mai) \w
        \w{{2,16}}(?:mi|lo|la|li|le)? sempre (?:con|in|un|una|il|la|i|gli|le|prima|per)\b
        non (?:serve|c'è bisogno|occorre|devi) \w
        (?:chiedi|chiedimi|avvisa|avvisami) (?:\w+ ){{0,2}}prima\b
        (?:quello|questo|quella) (?:è|era) (?:quello |quella )?(?:vecchi[oa]|obsolet[oa]|
        +deprecat[oa])\b
        """
    ),
    decided=either(
        r"""
        (?:abbiamo|hanno|ha|è stato|si è) (?:\w+ )?(?:deciso|scelto|optato|concordato|scartato|
        +abbandonato|
        +stabilito|approvato|rifiutato|migrato|lasciato)\b
        (?:restiamo|rimaniamo|passiamo|migriamo) (?:su|a|con|al|alla)\b
        (?:in produzione|produzione|il server|il cliente|i clienti|il fornitore) (?:abbiamo|usiamo|
        +gira|
        +girano|è|sono|usa|usano|vuole|ha|hanno|ancora|non)\b
        (?:apposta|di proposito|volutamente|per (?:il gdpr|contratto|motivi legali))\b
        (?:è|sono) (?:il|la|i|le) responsabil[ei]\b
        """
    ),
    liked=either(
        r"""
        (?:preferisco|odio|detesto|mi piac\w+|non mi piac\w+|non sopporto|mi dà fastidio)\b
        meglio [^.;?]{2,60} (?:che|di|senza)\b
        """
    ),
    told_of_self=either(
        r"""
        sono (?:un|una|uno|nuov[oa]|il|la|alle prime|responsabile|daltonic[oa]) ?\w
        (?:lavoro (?:come|in|per|con|da)|vengo (?:da|dal)|sto imparando|mi occupo)\b
        non (?:conosco|so) (?:molto|bene|quasi|nulla|niente)\b
        di \w+ (?:ne )?so (?:poco|nulla|niente)\b
        """
    ),
    passing=either(
        r"""
        (?:forse|magari|potremmo|non capisco)\b
        (?:errore|errori|non funziona|fallisce|si rompe|non parte)\b
        (?:il|la|i|le|del|della|nel|nella) (?:bottone|pulsante|pagina|campo|tabella|lista|colonna|
        +schermata|titolo)\b
        ^(?:aggiungi|togli|rimuovi|crea|correggi|cambia|sposta|rinomina|fai|genera|controlla|
        +spiega\w*|
        +puoi) (?!.{0,200}\b(?:sempre|mai|ogni volta)\b)
        """
    ),
)
