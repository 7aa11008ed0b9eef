"""French."""

from memdir.core.triage.forms import either, words
from memdir.core.triage.languages.language import Language

_ALWAYS = (
    r"(?:toujours|jamais|que|uniquement|seulement|aucune?|tous|toutes|chaque|plutôt|au lieu de|plus"
    r"|pas|systématiquement)"
)

LANGUAGE = Language(
    small=words(
        """
        le la les des du et est pas je nous il une un dans pour qu ce ça chez toujours jamais ici
        mais toi
        en sur sont ne de aux au se avec sans par ces cette mon ma donc y que qui on
        """
    ),
    always=either(
        r"""
        (?:toujours|jamais|uniquement|aucune?|plutôt|au lieu|systématiquement|partout|interdit)\b
        """
    ),
    custom=either(
        rf"""
        (?:ici|chez nous|dans (?:ce|notre|le) (?:projet|repo|dépôt)|dans l'équipe|côté \w+)
        +,? [^.;?]{{2,140}}\b{_ALWAYS}\b
        (?:on|nous) (?!peut|pourrait|devrait|va\b|a\b|est\b|avait)(?:n'|
        +ne )?\w{{2,20}} ?[^.;?]{{0,140}}
        +\b(?:pas|jamais|plus|toujours|que|tout|tous|toutes|aucune?|plutôt|uniquement|ici|chez nous|
        +ce projet|ce repo|systématiquement|chaque)\b
        (?:on|nous) (?:évite|évitons|préfère|préférons|interdit|bannit) \w
        (?:est|sont|reste|restent) (?:toujours|jamais|uniquement|systématiquement) \w
        (?:ne |n')\w{{2,16}} (?:pas|jamais|plus) (?:de |d'|les |des |le |la |l')?\w
        +[^.;?]{{3,120}}(?:,|\bparce\b|\bsinon\b|\bcar\b|\bsans\b|\bdans\b|\bjamais\b)
        (?:^|, |non,? )(?:pas|plus|jamais) d(?:e |')[\w-]{{3,30}}
        (?:il faut|on doit) (?:toujours|jamais|systématiquement|d'abord)\b
        (?:donc|du coup|alors|c'est pourquoi) (?:pas|plus|rien|jamais|on |il faut|tout|aucune?|
        +évite)
        , (?:pas|et pas) (?:en|dans|avec|sur|de|des|le|la|les|un|une|d')\b
        \w{{2,16}}(?:-moi|-le|-les|-la)? (?:toujours|systématiquement) (?:avec|en|par|un|une|le|la|
        +les|avant|
        +d')
        (?:évite|évitez|éviter|arrête) (?:de |d'|les |le |la )?\w
        (?:demande|demandez|préviens|vérifie) (?:\w+ ){{0,3}}avant\b
        (?:c'est (?:l'ancien|vieux|obsolète|déprécié)|n'existe plus|a été (?:remplacé|renommé|
        +déplacé))
        (?:attention|gaffe|sache|sachez) (?:à|aux?|que|qu')
        """
    ),
    decided=either(
        r"""
        (?:on|nous|ils|l'équipe|le client|la direction) (?:a|avons|ont|est|
        +sommes) (?:\w+ )?(?:décidé|
        +choisi|opté|convenu|abandonné|acté|validé|tranché|passés?|migré|retenu|écarté|refusé)\b
        (?:on|nous) (?:reste|restons|garde|gardons|abandonne|passe|passons|migre|laisse tomber)
        + (?:sur|à|chez|avec|le|la|l'|en|vers)\b
        (?:la prod\w*|le serveur|les serveurs|le client|nos clients|les clients|le fournisseur|
        +le cluster)
        +(?: de prod\w*)? (?:tournent?|est|sont|utilise\w*|a|ont|veut|exige|impose|demande|n'a|ne)\b
        (?:volontaire|fait exprès|c'est voulu|à cause du (?:rgpd|contrat)|pour des raisons)
        (?:c'est|ce sera) \w+ qui (?:gère|valide|décide|s'occupe|relit)\b
        """
    ),
    liked=either(
        r"""
        (?:je |j')(?:préfère|préférerais|aime|aimerais|déteste|adore|veux pas|supporte pas)\b
        (?:plutôt|mieux vaut) [^.;?]{2,60}\b(?:que|plutôt)\b
        (?:m'énerve|me gêne|m'agace|me dérange)\b
        """
    ),
    told_of_self=either(
        r"""
        je (?:suis|débute|travaille|viens|bosse|découvre|m'occupe|gère|n'y connais|ne connais|
        +maîtrise)
        + (?!d'accord|sûr|en train|désolé|bloqué|perdu|pas sûr|tombé|de (?:voir|faire|tester|
        +push))[^.;?]{3,}
        (?:c'est|est|sont) pas (?:vraiment )?(?:mon truc|mon domaine|mon fort)\b
        """
    ),
    passing=either(
        r"""
        (?:peut-être|pourrait|pourrions|on verra|je ne comprends pas)\b
        (?:(?:une|cette|l'|des) ?erreurs?|plante|marche pas|retourne|renvoie|même erreur|
        +ne marche pas|ne fonctionne pas|échoue|cassé)\b
        (?:le|la|les|du|au|l') ?(?:bouton|page|champ|tableau|liste|colonne|formulaire|fenêtre|
        +titre)\b
        ^(?:ajoute|enlève|supprime|crée|corrige|renomme|mets|change|écris|génère|déplace|regarde|
        +lance|explique|
        +peux-tu|pouvez) (?!.{0,200}\b(?:toujours|jamais|chaque fois)\b)
        """
    ),
)
