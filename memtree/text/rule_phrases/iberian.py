"""Spanish and Portuguese."""

from __future__ import annotations

from memtree.text.rule_score import Phrases

_ES_MANNERS = (
    "responde|responda|responded|respóndeme|contesta|conteste|contéstame|usa|use|usad|"
    "utiliza|utilice|"
    "emplea|escribe|escriba|escríbeme|redacta|habla|hable|háblame|mantén|mantenga|cita|cite|indica|"
    "indique|menciona|mencione|pon|ponga|formatea|nombra|limita|limite|limítate|prefiere|empieza|"
    "empiece|comienza|termina|termine|precisa|trata|sé|sea|sigue|siga|respeta|respete|"
    "deja|haz|haga|"
    "coloca|guarda|responder|usar|utilizar|escribir|mantener|citar|indicar|hablar|expresa|"
    "exprésate|sangra|indenta"
)
_ES_TASKS = (
    "añade|añada|agrega|agregue|da|dame|dé|deme|explica|explique|explícame|muestra|muestre|"
    "muéstrame|verifica|comprueba|"
    "revisa|pregunta|pregunte|pregúntame|pregúnteme|avisa|avísame|propón|incluye|incluya|"
    "ejecuta|prueba|crea|comenta|"
    "traduce|resume|convierte|corrige|toca|modifica|borra|elimina|sube|recuerda|confirma|"
    "di|dime|compara|añadir|agregar|incluir|ejecutar|"
    "toques|modifiques|borres"
)
SPANISH = Phrases(
    first=(
        f"{_ES_MANNERS}|{_ES_TASKS}|no|nunca|jamás|siempre|todos|todas|todo|cada|debes|tienes|debe|"
        "tú|quiero|quisiera|prefiero|me|nada|ningún|ninguna|evita|evite|trátame|tutéame|tutéeme|"
        "llámame|llámeme|aquí|solo|sólo|cuando|queda|prohibido|desde|ahora|regla|en|antes|"
        "necesito|ya"
    ),
    anywhere="ahora siempre nunca jamás adelante deben debes evita prohibido tus sus",
    lead=(
        r"(?:(?:y|pero|también|entonces|ok|vale|bueno|sí|gracias|por favor|porfa|hola|oye|"
        r"importante|nota|ojo|recuerda|recuerde|ten en cuenta|atención|acuérdate)\b[\s,:!.–-]*+){"
        r"1,4}+"
    ),
    standing=(
        r"\bsiempre\b|\bnunca\b|\bjamás\b|\b(?:a partir|de) (?:de )?(?:ahora|hoy|aquí|"
        r"este momento)(?: en adelante)?\b"
        r"|\ben adelante\b|\ben el futuro\b|\bpor defecto\b|\bbajo ning\w+ \w+\b|\ben "
        r"ningún caso\b|\bcada vez\b"
        r"|\ben todo momento\b|\bsin excepción\b|\bsin (?:preguntarme|mi permiso|consultarme)\b|"
        r"\bsalvo que (?:te|yo|lo)\b|\ba menos que (?:te|yo|lo)\b"
    ),
    frame=(
        r"\b(?:cuando|cada vez que|siempre que) (?:te |me |yo |tú |le )*(?:pid|pregunt|"
        r"escrib|respond|cont|program|pong|modific|propon|"
        r"suger|cre|hag|hable|cambi|d[eé]|muestr|us|termin|expli|genere|menci|recom)\w*|"
        r"^antes de \w+|^después de cada\b"
        r"|\bsi no (?:sabes|estás seguro|está seguro)\b|\ben caso de duda\b|\bpor respuesta\b"
    ),
    scope=(
        r"\ben (?:este|el|nuestro|todo el) (?:proyecto|repositorio|repo|código|chat)\b|"
        r"\bpara este proyecto\b|\baquí\b|\ben esta conversación\b|\ben todas partes\b"
    ),
    order=(
        rf"{{start}}(?:(?:siempre|nunca|solo|sólo|por favor|a partir de ahora|de ahora "
        rf"en adelante|haz el favor de) ?,? ?)*+(?:{_ES_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:siempre|nunca|solo|sólo|por favor|a partir de ahora|de ahora "
        rf"en adelante) ?,? ?)*+(?:{_ES_TASKS})\b"
    ),
    duty=(
        r"\b(?:debes|tienes que|debe usted|deberías|has de|te pido que|le pido que|necesito "
        r"que)\b"
    ),
    forbid=(
        r"{start}(?:por favor,? )?no (?:me |te |lo |la |los |le )?(?!preocup|olvid|worr|"
        r"tengas|pas)\w+(?:e"
        r"s|as|e|a|ed|ad)\b|{start}(?:nunca|jamás) (?:me |te |lo |la )?\w+(?:es|as|e|"
        r"a)\b"
        r"|\bno (?:debes|puedes|está permitido)\b|{start}(?:evita|evite|deja de|deje de|evitar)\b"
        r"|^(?:nada de|sin|ningún|ninguna|cero) \w+|\bprohibid\w+\b"
        r"|^(?:ya |nunca )?no quiero (?:más |ver |que )?(?!ir|hacer|comer|hablar|saber|"
        r"ser|estar|tener)\w+(?:s|es)?\b"
    ),
    wish=(
        r"\b(?:quiero|quisiera|prefiero|me gustaría|desearía|necesito|espero) (?:que "
        r")?(?:tus|tú|tu|siempre|las|los|me|no|respuestas|siempre|solo|\w+as|\w+es)\b|"
        r"\bno quiero\b"
    ),
    norm=(
        r"^(?!ellos|ellas|(?:\w+ ){1,2}(?:empleados|clientes|visitantes|niños|alumnos|pasajeros|"
        r"participantes|ciudadanos|padres)\b)[\w' /-]{3,60}?\b(?:deben|deberían|tienen "
        r"que|han de)\b"
        r"|^(?:cada|todo|toda|ningún|ninguna) [\w' /-]{3,60}?\b(?:debe|debería|tiene que|ha de)\b"
    ),
    habit=(
        r"\b(?:nosotros )?(?:aquí |siempre |nunca |no )*(?:usamos|utilizamos|escribimos|"
        r"indentamos|trabajamos|nombramos|desplegamos|preferimos|ponemos)\b"
    ),
    style=(
        r"\b(?:tus|sus|las|tu|todas las|cada|mis) (?:\w+ )?(?:respuestas?|explicacion(?:es)?|"
        r"mensajes?|textos?|frases|comentarios|resúmenes|sugerencias)\b|\b(?:emoticon\w*|"
        r"tecnicismos?|anglicismos?|jerga|viñetas|exclamacion(?:es)?|signos de exclamación|"
        r"puntos? y comas?|frases (?:cortas|largas|completas|simples)|tabuladores|tabulaciones|"
        r"espacios|mayúsculas|minúsculas|comillas|comentarios|sistema métrico|spoilers?|"
        r"tono|abreviaturas|siglas|nombres de (?:variables?|archivos?|ramas?|funciones?)|"
        r"mensajes de commit|voz pasiva|palabrotas|metáforas|personaje)\b|\b(?:menos "
        r"de|como máximo|máximo|no más de|en|hasta|superen|superar|pasen de) (?:de )?(?:\d+|"
        r"una|dos|tres|cinco|diez|cien) (?:palabras?|frases?|líneas?|caracteres|párrafos?|"
        r"oracion(?:es)?)\b|\b(?:respond|respónd|contest|contést|escrib|escríb|habl|háb|"
        r"redact)\w* (?:\w+ ){0,3}?en (?:español|inglés|francés|alemán|italiano|portugués|"
        r"ruso|chino|japonés|árabe|catalán|gallego|verso|una frase|prosa)\b|\b(?:respond|"
        r"contest|escrib|habl|explic)\w* (?:\w+ ){0,2}?(?:brevemente|claramente|de forma "
        r"\w+|de manera \w+|con (?:humor|cortesía|educación)|como (?:si|a|un))"
        r"|\b(?:resúmen(?:es)?|resumen|introducciones|conclusiones)\b"
    ),
    work=(
        r"\b(?:archivos?|ficheros?|carpetas?|directorios?|funcion(?:es)?|clases?|ramas?|"
        r"dependencias?|bibliotecas?|librerías?|paquetes?|variables?|"
        r"base de datos|migraciones|comandos?|pruebas|módulos?|componentes?|consultas?|"
        r"esquema|recetas?|enlaces?|datos)\b"
        r"|\b(?:fechas|precios|unidades|tablas|títulos|chistes|bromas|disculpas|fuentes?)\b"
    ),
    every=(
        r"^(?:todos|todas|todo|cada|solo|sólo|únicamente)\b|\b(?:solo|sólo|únicamente|"
        r"exclusivamente)\b"
    ),
    contrast=r"\ben (?:lugar|vez) de\b|, (?:no|nunca|y no) \w+|\by no \w+",
    tell=(
        r"{start}no (?:me )?(?:propongas|recomiendes|sugieras|menciones|uses|utilices|"
        r"añadas|agregues|repitas|inventes|resumas|reveles|escribas|expliques|pongas|"
        r"empieces|termines|emplees|supongas|use|utilice|añada|agregue)\b(?! (?:el|la|"
        r"los|las|ese|esa|este|esta|aún|todavía)\b)"
    ),
    fixed=(
        r"^(?:sé|sea|sed) (?:siempre |más )?(?:breve|concis[oa]|direct[oa]|formal|informal|"
        r"educad[oa]|clar[oa]|cortés|escuet[oa])\b"
        r"|{start}(?:trátame|tráteme|tutéame|háblame|hábleme) (?:\w+ )?(?:de|como)\b|"
        r"{start}tutéame\b|^(?:llámame|llámeme|dime) (?!mañana|cuando|luego|si|a |más|"
        r"el|la|qu|lo|cómo|dónde|por|un)[\w]"
        r"|{start}(?:preg[uú]nt\w+|avís\w+|consúlta\w+|pid\w+ permiso) .{0,20}antes de|"
        r"^antes de .{3,60}?, ?(?:\w+ )?(?:preg[uú]nt|avís|consúlt|pid)|"
        r"\bpreguntarme .{0,10}antes de|^regla(?: \d+)?: \w|\b(?:mantente|permanece) "
        r"en (?:el |tu )?(?:personaje|papel)\b"
        r"|\bno (?:hables|actúes|decidas) por\b"
        r"|\b(?:a partir de ahora|de ahora en adelante|en adelante)\b.{0,30}\ben (?:español|"
        r"inglés|alemán|francés|catalán|castellano|italiano|portugués)\b"
    ),
    nearly=r"^(?:cíñete|limítate|atente|apégate|respeta|sigue siempre) ",
    polite=(
        r"\b(?:puedes|podrías|puede|podría) (?:\w+ )?(?:siempre|dejar de|evitar|no (?:usar|"
        r"volver)|a partir de ahora)\b"
    ),
    definite=(
        rf"{{start}}(?:siempre |por favor )?(?:{_ES_MANNERS}|{_ES_TASKS}) (?:a |solo a )?"
        r"(?:el|la|los|las|este|esta|ese|esa|estos|estas|eso|esto|mi)\b(?! (?:fuente|fechas|"
        r"precios|nombres|respuestas))"
    ),
    once=(
        r"\b(?:esta vez|por ahora|de momento|ahora mismo|hoy|mañana|esta noche|segund[oa]|"
        r"tercer[oa]?|primera pregunta|otra vez|a continuación|de abajo|de arriba|"
        r"anterior|siguiente|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b"
    ),
    against=(
        r"^(?:yo|él|ella|ellos|ellas|nosotros|mi|mis|su|el|la|los|se|eso|esto|nadie|me|"
        r"siempre me|siempre (?:he|ha|fui|estaba)|nunca (?:he|ha|hay|fui|me|se))\b(?!.*\b(?:deben"
        r"|tus)\b)"
        r"|\b(?:esperanza|rindas|rendirse|sueños?|corazón|felicidad|preocupes|preocupe|"
        r"olvides)\b|\b(?:dijo|dice|decía|escribió|dijeron)\b|\ba partir del (?:lunes|"
        r"martes|\w+)\b"
        r"|\b(?:he|ha|han|había|hemos) (?:siempre |nunca )?\w+(?:ado|ido)\b|^(?:nunca|"
        r"siempre) (?:\w+amos|\w+é|\w+aba)\b"
    ),
    asks=r"^¿|^(?:por qué|qué|cómo|cuándo|quién)\b",
)

_PT_MANNERS = (
    "responda|responde|responder|use|usa|usar|utilize|utiliza|escreva|escreve|escrever|"
    "redija|fale|fala|falar|"
    "mantenha|mantém|manter|cite|cita|citar|indique|indica|mencione|menciona|coloque|"
    "coloca|ponha|formate|nomeie|"
    "limite|limita|prefira|comece|começa|termine|termina|especifique|trate|trata|seja|"
    "sê|siga|segue|respeite|deixe|faça|faz|"
    "guarde|dê|empregue|expresse|indente|assine"
)
_PT_TASKS = (
    "adicione|adiciona|acrescente|inclua|inclui|incluir|explique|explica|mostre|mostra|"
    "verifique|verifica|revise|pergunte|pergunta|perguntar|avise|avisa|proponha|"
    "execute|executa|rode|teste|crie|cria|comente|traduza|resuma|converta|corrija|toque|"
    "mexa|mexe|modifique|altere|apague|remova|exclua|envie|lembre|confirme|diga|diz|compare|"
    "liste|faça|faz|dê"
)
PORTUGUESE = Phrases(
    first=(
        f"{_PT_MANNERS}|{_PT_TASKS}|não|nunca|jamais|sempre|todos|todas|todo|cada|você|"
        "deve|tu|quero|queria|prefiro|nada|nenhum|nenhuma|evite|evita|"
        "chame|chama|trate|aqui|só|somente|apenas|quando|daqui|doravante|proibido|regra|"
        "neste|antes|gostaria|pare|me|eu|a"
    ),
    anywhere="agora sempre nunca jamais diante adiante devem deve evite proibido suas tuas",
    lead=(
        r"(?:(?:e|mas|também|então|ok|bom|sim|obrigad[oa]|por favor|olá|oi|importante|"
        r"nota|atenção|lembre-se|lembra-te|lembre|"
        r"tenha em mente)\b[\s,:!.–-]*+){1,4}+"
    ),
    standing=(
        r"\bsempre\b|\bnunca\b|\bjamais\b|\ba partir de (?:agora|hoje|aqui)\b|\bdaqui "
        r"(?:em|por|para) (?:diante|frente)\b|\bde agora em diante\b|\bdoravante\b|\bno "
        r"futuro\b|\bpor padrão\b"
        r"|\bem (?:hipótese|circunstância) (?:alguma|nenhuma)\b|\bsob nenhuma\b|\bem "
        r"nenhum caso\b|\bcada vez\b|\btoda vez\b|\bem todos os casos\b|\bsem (?:me perguntar|"
        r"minha permissão|exceção)\b|\ba menos que eu\b"
    ),
    frame=(
        r"\b(?:quando|sempre que|toda vez que|cada vez que) (?:eu |você |tu |me |for "
        r"|fores )*(?:pedir|perguntar|escrever|responder|programar|modificar|propor|sugerir|"
        r"criar|fizer|falar|mudar|mostrar|usar|terminar|explicar|gerar|alterar|der)\w*"
        r"|^antes de \w+|^depois de cada\b|\bse não (?:souber|tiver certeza|soubere?s)\b|"
        r"\bem caso de dúvida\b|\bpor resposta\b"
    ),
    scope=(
        r"\b(?:neste|nesse|no nosso|em todo o|para este) (?:projeto|repositório|código|"
        r"chat|repo)\b|\bnesta conversa\b|\baqui\b|\bem (?:todo|qualquer) lugar\b"
    ),
    order=(
        rf"{{start}}(?:(?:sempre|nunca|só|somente|apenas|por favor|a partir de agora|"
        rf"daqui em diante) ?,? ?)*+(?:{_PT_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:sempre|nunca|só|somente|apenas|por favor|a partir de agora|"
        rf"daqui em diante) ?,? ?)*+(?:{_PT_TASKS})\b"
    ),
    duty=(
        r"\b(?:você deve|tu deves|deves|você tem que|tens de|tens que|você precisa|peço "
        r"que|preciso que)\b"
    ),
    forbid=(
        r"{start}(?:por favor,? )?não (?:me |se |o |a |te )?(?!se preocupe|esqueça)\w+(?:es|"
        r"as|e|a|em|am|r)\b|{start}(?:nunca|jamais) (?:me |o |a )?\w+(?:es|as|e|a|r)\b"
        r"|\bnão (?:deve|pode|é permitido)\b|{start}(?:evite|evita|evitar|pare de|deixe "
        r"de)\b|^(?:nada de|sem|nenhum|nenhuma|zero) \w+|\bproibid\w+\b"
        r"|^não quero (?:mais |ver |que )?(?!ir|fazer|comer|falar|saber|ser|estar|ter)\w+\b"
    ),
    wish=(
        r"\b(?:quero|queria|prefiro|gostaria|preciso|espero) (?:que )?(?:suas|as|tuas|"
        r"você|sempre|os|me|não|respostas|só)\b|\bnão quero\b"
    ),
    norm=(
        r"^(?!eles|elas|(?:\w+ ){1,2}(?:funcionários|clientes|visitantes|crianças|alunos|pais|"
        r"passageiros|participantes|cidadãos)\b)[\w' /-]{3,60}?"
        r"\b(?:devem|deveriam|têm que|têm de|precisam)\b"
        r"|^(?:cada|todo|toda|nenhum|nenhuma) [\w' /-]{3,60}?\b(?:deve|deveria|tem que|tem de)\b"
    ),
    habit=(
        r"\b(?:aqui |sempre |nunca |não )*(?:usamos|utilizamos|escrevemos|indentamos|"
        r"trabalhamos|nomeamos|preferimos|colocamos)\b"
    ),
    style=(
        r"\b(?:suas|tuas|as|sua|todas as|cada|minhas) (?:\w+ )?(?:respostas?|explicaç(?:ão|"
        r"ões)|mensagens?|textos?|frases|comentários|resumos?|sugestões)\b|\b(?:jargão|"
        r"jargões|termos técnicos|frases (?:curtas|longas|completas)|estrangeirismos|"
        r"anglicismos|gírias?|marcadores|exclamaç(?:ão|ões)|pontos? de exclamação|pontos? "
        r"e vírgulas?|tabulaç(?:ão|ões)|espaços|maiúsculas|minúsculas|aspas|comentários|"
        r"sistema métrico|spoilers?|tom|abreviaç(?:ão|ões)|siglas|nomes de (?:variáve(?:l|"
        r"is)|arquivos?|ficheiros?|funç(?:ão|ões))|mensagens de commit|voz passiva|palavrões|"
        r"personagem)\b|\b(?:menos de|no máximo|máximo|não mais de|em|até|passem de|ultrapassem) "
        r"(?:de )?(?:\d+|uma|duas|três|cinco|dez|cem) (?:palavras?|frases?|linhas?|caracteres|"
        r"parágrafos?)\b|\b(?:respond|escrev|fal)\w* (?:\w+ ){0,3}?em (?:português|inglês|"
        r"espanhol|francês|alemão|italiano|russo|chinês|japonês|árabe|verso|uma frase|"
        r"prosa)\b|\b(?:respond|escrev|fal|expliq|explic)\w* (?:\w+ ){0,2}?(?:brevemente|"
        r"claramente|de forma \w+|de maneira \w+|com (?:humor|educação)|como (?:se|a|"
        r"um))"
        r"|\b(?:resumos?|introduç(?:ão|ões)|conclus(?:ão|ões))\b"
    ),
    work=(
        r"\b(?:arquivos?|ficheiros?|pastas?|diretórios?|funç(?:ão|ões)|classes?|dependências?|"
        r"bibliotecas?|pacotes?|variáve(?:l|is)|banco de dados|base de dados|migraç(?:ão|"
        r"ões)|comandos?|testes?|módulos?|componentes?|consultas?|receitas?|links?|dados)\b"
        r"|\b(?:datas|preços|unidades|tabelas|títulos|piadas|desculpas|fontes?)\b"
    ),
    every=r"^(?:todos|todas|todo|cada|só|somente|apenas)\b|\b(?:somente|apenas|exclusivamente)\b",
    contrast=r"\bem vez de\b|\bao invés de\b|\bem lugar de\b|, (?:não|nunca|e não) \w+|\be não \w+",
    tell=(
        r"{start}não (?:me )?(?:proponha|recomende|sugira|mencione|use|utilize|adicione|"
        r"acrescente|repita|invente|resuma|revele|escreva|explique|coloque|comece|termine|"
        r"empregue|suponha|uses|escrevas)\b(?! (?:o|a|os|as|esse|essa|este|esta|ainda)\b)"
    ),
    fixed=(
        r"^(?:seja|sê) (?:sempre |mais )?(?:breve|concis[oa]|diret[oa]|formal|informal|"
        r"educad[oa]|clar[oa]|objetiv[oa]|sucint[oa])\b"
        r"|{start}(?:me trate|trate-me|trata-me|fale comigo) (?:\w+ )?(?:por|como|de)\b|"
        r"^(?:me chame|chame-me|chama-me|me chama) (?:de |por )?(?!amanhã|quando|depois|"
        r"se|mais)[\w]"
        r"|\b(?:pergunt\w+|avis\w+|consult\w+|peça (?:permissão|confirmação)) .{0,20}antes "
        r"de|^regra(?: \d+)?: \w|\bperman\w+ (?:no|em) (?:seu )?personagem\b|\bnão (?:fale|"
        r"aja|decida) por\b"
        r"|^antes de [^,]{3,60}, ?(?:\w+ )?(?:pergunt|avis|consult|peça)"
        r"|\b(?:a partir de agora|daqui (?:em|para|por) (?:diante|frente)|de agora em "
        r"diante)\b.{0,30}\bem (?:português|inglês|espanhol|alemão|francês)\b"
    ),
    nearly=r"^(?:atenha-se|limite-se|respeite|siga sempre) ",
    polite=(
        r"\b(?:você pode|pode|poderia|você poderia|podes) (?:\w+ )?(?:sempre|parar de|"
        r"evitar|deixar de|a partir de agora)\b"
    ),
    definite=(
        rf"{{start}}(?:sempre |por favor )?(?:{_PT_MANNERS}|{_PT_TASKS}) "
        r"(?:o|a|os|as|este|esta|esse|essa|isso|isto|meu|minha)\b(?! (?:fonte|datas|preços|"
        r"nomes|respostas))"
    ),
    once=(
        r"\b(?:desta vez|dessa vez|por enquanto|por agora|agora mesmo|hoje|amanhã|esta "
        r"noite|segund[oa]|terceir[oa]|primeira pergunta|de novo|outra vez|abaixo|acima|"
        r"anterior|seguinte|terça|quarta|quinta|sexta|sábado|domingo)\b"
    ),
    against=(
        r"^(?:eu|ele|ela|eles|elas|nós|meu|minha|seu|o|se|isso|isto|ninguém|nunca (?:se|"
        r"fui|tive|vi)|sempre (?:fui|tive|gostei))\b(?!.*\b(?:devem|suas)\b)"
        r"|\b(?:esperança|desista|desistir|sonhos?|coração|felicidade|preocupe|esqueça|"
        r"esquecer)\b|\b(?:disse|diz|dizia|escreveu|disseram)\b|\ba partir de (?:segunda|"
        r"terça|quarta|quinta|sexta|amanhã)\b|\bsempre \w+(?:ei|ou|ava)\b"
    ),
    asks=r"^(?:por que|porque|o que|como|quando é|quem)\b",
)
