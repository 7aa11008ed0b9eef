"""Spanish."""

from memdir.core.triage.forms import either, words
from memdir.core.triage.languages.language import Language

_ALWAYS = (
    r"(?:siempre|nunca|jamás|solo|sólo|solamente|ningún|ninguna|todos?|todas?|cada|en vez de"
    r"|en lugar de|ya no|no)"
)

LANGUAGE = Language(
    small=words(
        """
        el la los las que de en un una con para por es se lo aquí siempre nunca no pero porque
        hemos al
        del está están más esto eso nada antes y yo tú muy sin hasta como su sus son hay me
        """
    ),
    always=either(
        r"""
        (?:siempre|nunca|jamás|solo|sólo|ningún\w*|nada de|en vez de|en lugar de|ya no)\b
        """
    ),
    custom=either(
        rf"""
        (?:aquí|en este (?:proyecto|repo|equipo)|en (?:el|nuestro) equipo|nosotros)
        +,? [^.;?]{{2,140}}\b{_ALWAYS}\b
        (?:siempre|nunca|ya no|no|solo|sólo) (?:\w+ )?\w{{2,16}}(?:amos|emos|imos)\b
        \w{{2,16}}(?:amos|emos|imos) (?:siempre|solo|sólo|todo|todos|todas|cada)\b
        (?:evitamos|preferimos|exigimos|seguimos|usamos) \w
        (?:no|nunca|jamás) (?!es\b|sé\b|hay\b|me\b|se\b|está|funciona|puedo|entiendo|tengo|veo|va\b|
        +lo\b|
        +la\b|le\b|importa|sirve|sale|pasa\b|quiero\b|te\b|los\b)\w{{2,14}}(?:as|es) (?!bien|mal|
        +que\b|eso|
        +esto)\w[^.;?]{{3,120}}(?:,|\bporque\b|\bnunca\b|\bsiempre\b|\bsin\b|\ben\b)
        no \w{{2,14}}(?:as|es) \w[^.;?]{{2,40}}\b(?:tú|yo)\b
        (?:hay que|se debe|debe|deben) [^.;?]{{2,100}}\b(?:siempre|antes|nunca|todos|todas|cada)\b
        (?:así que|por eso|por lo que|por tanto|entonces) (?:no|nada|solo|sólo|nunca|siempre|todo|
        +hay que|
        +tenemos|mejor)\b
        , (?:no|y no) (?:en|con|a|por|de|el|la|los|las|un|una|al)\b
        (?:nada de|sin|mejor sin|evita|evitar|basta de) [\w-]{{4,30}}
        no (?:hace falta|necesito|es necesario|hay que) (?:que )?\w
        (?:lo|la|los|las|eso|esto) (?:hace|hago|lleva|gestiona|revisa|aprueba) (?:siempre )?\w
        (?:pregunta|pregúntale|pregúntame|avisa|avísame) (?:\w+ )?antes\b
        (?:eso|esto|ese|esa) (?:ya )?(?:es|está) (?:viejo|vieja|antiguo|antigua|obsoleto|obsoleta|
        +deprecado)\b
        \w{{2,16}}(?:me|lo|la|los|las)? siempre (?:con|en|como|antes|un|una|el|la|por|cuando)\b
        (?:usa|escribe|haz|pon|dame|explica|muéstrame) siempre\b
        siempre (?:que|usa|haz|pon|dame|escribe|explica)\b
        los \w+ (?:van|se ponen|se escriben|se guardan) \w
        """
    ),
    decided=either(
        r"""
        (?:hemos|han|ha|habíamos|se ha|se han) (?:acordado|decidido|elegido|descartado|optado|
        +pactado|
        +quedado|migrado|cambiado|dejado|pasado|aprobado|rechazado)\b
        (?:acordamos|decidimos|elegimos|descartamos|optamos|quedamos en|migramos|dejamos de|
        +nos quedamos|
        +vamos a migrar|pasamos a)\b
        (?:producción|prod|staging|el servidor|el cluster|el cliente|nuestro cliente|
        +nuestros clientes|
        +los clientes|el proveedor) (?:corre|usa|usan|está|están|sigue|siguen|tiene|tienen|quiere|
        +exige|
        +pide|necesita|solo|no)\b
        en (?:producción|prod) (?:tenemos|usamos|corre|seguimos|hay|va)\b
        (?:a propósito|adrede|por (?:ley|contrato|cumplimiento|temas legales))\b
        (?:es|son) (?:el|la|los|las) (?:responsable|encargad[oa])s?\b
        """
    ),
    liked=either(
        r"""
        (?:me|nos) (?:gusta|gustan|gustaría|molesta|molestan|encanta|encantan|resulta|cuesta)\b
        (?:prefiero|odio|detesto)\b
        para mí,? [^.;?]{3,60}\b(?:primero|mejor|importante|más)\b
        mejor [^.;?]{2,60}\b(?:que|sin|no)\b
        """
    ),
    told_of_self=either(
        r"""
        me llamo \w
        (?:llevo|dirijo|mantengo|lidero) (?:el|la|los|las|un|una)\b
        (?:soy|yo soy) (?!el que|consciente|seguro)[^.;?]{3,}
        (?:trabajo|vengo|llevo|acabo de (?:entrar|empezar|unirme)|estoy (?:aprendiendo|empezando))
        + (?:en|de|como|con|desde|sol[oa]|\w+ (?:años|meses|semanas))\b
        no (?:tengo (?:mucha |nada de )?(?:experiencia|idea de)|sé (?:nada|mucho)|controlo) \w
        de \w+ sé (?:poco|lo justo|nada|mucho)\b
        """
    ),
    passing=either(
        r"""
        (?:quizás|quizá|tal vez|a lo mejor|podríamos)\b
        (?:falla|fallan|(?:da|dan|sale|este|ese|tira|un|sigue el) error|error:|no funciona|
        +sin funcionar|devuelve|retorna|se rompe|no arranca|no compila|no entiendo)\b
        (?:el|la|los|las|del|al) (?:botón|página|tabla|campo|lista|columna|formulario|menú|diálogo|
        +título)\b
        pantalla
        ^(?:por favor,? )?(?:quita|añade|haz|crea|elimina|cambia|arregla|sube|adapta|pon|mueve|
        +renombra|
        +actualiza|borra|corrige|genera|revisa|mira|explica\w*|puedes)
        + (?!.{0,200}\b(?:siempre|nunca|jamás|cada vez)\b)
        (?:este|ese|esta|esa) (?!proyecto|repo|equipo|empresa|tipo)\w
        """
    ),
)
