"""What people say of themselves in French, Spanish, Portuguese and Italian: patterns for the
beginning of a sentence in lower case. The sentence is kept as it was said."""

from __future__ import annotations

_FR_KIN = (
    r"(?:beau-|belle-|petit-|petite-|arrière-|grand-|ex-)?(?:femme|mari|conjointe?|compagn(?:on"
    r"|e)|copine?|ami[es]?|amies|fils|filles?|enfants?|bébé|mère|maman|père|papa|parents|frères?"
    r"|sœurs?|soeurs?|oncle|tante|cousine?s?|neveux?|nièces?|colocs?|colocataires?|patronn?e?"
    r"|chefs?|collègues?|voisine?s?|médecin|chiens?|chienne|chats?|chatte|cheval|lapins?|famille"
    r"|jumeaux)"
)
_FR_NOT = (
    r"(?!(?:en train|désolée?|fatiguée?|malade|perdue?|sûre?|pas sûre?|contente?|ravie?|là|ici"
    r"|prête?|un peu|trop|bloquée?|d'accord|cela|ça|ce|cette|ton|votre|le suivant|aujourd'hui"
    r"|maintenant|triste|énervée?|une question|un problème|une erreur|besoin|encore|toujours pas"
    r"|retour|curieu\w+)\b)"
)
FRENCH = {
    "fact": (
        rf"je (?:suis|m'appelle|ne suis pas) {_FR_NOT}\w"
        r"|j'(?:habite|étudie|enseigne|utilise)\b (?!ce|cette|ça|le suivant)|j'ai \d+ ans"
        r"|je n'habite \w|je (?:viens (?:de|du|d')(?!\s?\w+(?:er|ir|re)\b)(?! (?:le|la|les)\b)"
        r"|vis|travaille(?! (?:dessus|sur (?:ce|le|la|un)))|parle|joue|conduis|bois|mange"
        r"|prends (?:du|de la|\d|tous)|porte|fume|dirige|possède|loue|cuisine|cours (?:tous|un)"
        r"|ne (?:mange|bois|fume|supporte|tolère|parle|conduis) (?:pas|plus|jamais))"
        rf"\b {_FR_NOT}|j'ai (?:[\w'-]+ ){{0,4}}?(?:{_FR_KIN}|allergies?|diabète|asthme"
        rf"|migraines?|tdah|maison|appartement|jardin"
        r"|voiture|vélo|balcon|licence|master|doctorat|entreprise|boutique|ans d'expérience"
        r"|intolérance)\b|j'ai (?:déménagé|grandi|étudié|acheté (?:un|une)|adopté|arrêté de"
        r"|commencé (?:un|à)|fondé|quitté) \w"
        rf"|(?:mon|ma|mes|notre|nos) (?:[\w-]+ ){{0,2}}?{_FR_KIN}(?: de \d+ ans)?(?:,? [\w-]+,?)?"
        rf" (?:est|sont|a|ont|s'appelle"
        r"|s'appellent|habite|habitent|vit|vivent|travaille|aime|adore|déteste|étudie|joue|parle"
        r"|mange|ne mange"
        rf"|ne supporte|ne boit|vient de|va|fait|n'aime) {_FR_NOT}\w"
        r"|(?:mon|ma|mes|notre|nos) (?:[\w-]+ ){0,2}?(?:nom|prénom|anniversaire|adresse|métier"
        r"|travail|loisirs?|passion|langue maternelle|objectif|budget|salaire|loyer|voiture|vélo"
        r"|ordinateur|téléphone|jardin|maison|appartement|équipe|entreprise|site|serveur"
        r"|base de données|backend|frontend|projet|api|vol|train|boîte"
        rf"|rendez-vous) (?:est|sont|s'appelle|a|ont|tourne|utilise|part|se trouve"
        rf"|compte) {_FR_NOT}\w"
        rf"|(?:mon|ma) (?:\w+ )?{_FR_KIN}(?: [\w-]+)? et moi (?:avons|venons|sommes|vivons"
        rf"|habitons) \w"
        r"|je n'ai (?:pas|plus|jamais eu) (?:de |d')(?!idée|temps|question|problème|raison|choix"
        r"|réponse)\w"
        r"|on m'a (?:diagnostiqué|opéré) \w"
        r"|(?:nous|on) (?:utilise|utilisons|habite|habitons|travaille|travaillons|vend|vendons"
        r"|déploie|déployons"
        rf"|a (?:un|une|deux|trois|\d)|avons (?:un|une|deux|trois|\d)|est (?:une|\d)"
        rf"|sommes (?:une|\d)) {_FR_NOT}\w"
        r"|(?:nous avons|on a) (?:décidé|choisi|opté|convenu|déménagé|adopté|acheté) \w"
    ),
    "preference": (
        r"(?:je|nous|on) (?:préfère|préférons|déteste|adore|aime)\b (?!(?:ça|cela|ce|cette|ta|ton"
        r"|votre|l'idée|bien (?:ta|ton|ce|cette|l'idée)|la (?:deuxième|première))\b)|j'(?:adore"
        r"|aime) (?!(?:ça|cela|ce|cette|ta|ton|votre|l'idée|la (?:deuxième|première)|bien (?:ta"
        r"|ton|ce|cette|l'idée))\b)\w|je n'aime pas (?!(?:ça|cela|ce|cette)\b)\w|(?:mon|ma"
        r"|mes) [\w ]{2,30} préférée?s? (?:est|sont) \w"
    ),
    "general": (
        r"j'apprends \w|je (?:m'entraîne pour|me prépare|prépare (?:un|mon|le)|prévois|compte"
        r"|cherche (?:un (?:nouvel? )?(?:emploi|travail|appartement)|une maison)"
        r"|veux (?:apprendre|perdre|devenir|déménager)) ?\w|(?:retiens|note|pour info"
        r"|souviens-toi|n'oublie pas)[:, ]+(?:que )?(?!tu|de\b)\w|mon objectif est \w"
    ),
    "question": r"(?:est-ce|pourquoi|comment|qu'est|quel\w*|où|combien)\b",
    "hypothetical": (
        r"si (?:j'|je|on|nous)|(?:imagin\w+|suppos\w+ que|peut-être|je pourrais|j'aurais"
        r"|j'aimerais)\b"
    ),
    "request": (
        r"(?:(?:écris|donne|montre|explique|traduis|résume|corrige|raconte|recommande|rappelle"
        r"|cherche"
        r"|crée|génère|fais|dis)(?:-moi|-nous|-la)?\b|aide-moi|peux-tu|pouvez-vous|pourrais-tu"
        r"|s'il (?:te|vous)|j'ai besoin d|je (?:veux|voudrais) (?:une?|que|des)\b)"
    ),
    "transient": (
        r"(?:je suis|nous sommes|on est) (?:(?:très|trop|si|encore|super|vraiment|un peu) )*"
        r"(?:crevée?|fatiguée?|épuisée?|naze|malade|perdue?|contente?|ravie?|triste|énervée?"
        r"|stressée?"
        r"|prête?|bloquée?|désolée?|de retour|à l'(?:aéroport|hôtel|hôpital)|à la (?:gare|maison)"
        r"|au (?:bureau|travail|lit|restaurant)|dans le (?:train|bus|métro)|en (?:retard|route"
        r"|réunion"
        r"|train))\b|j'ai (?:(?:très|trop|un peu) )?(?:faim|soif|froid|chaud|mal|sommeil)\b"
    ),
    "about_others": (
        r"(?:ils?|elles?) (?:est|a|ont|sont|habite|vit|travaille|aime|dit|veut|fait|va|ne|n'|s'|m')"
        r"|(?:mon|ma) (?:chef|patronne?|collègue|voisine?|proprio\w*) (?:dit|a (?:dit|écrit)|veut"
        r"|pense"
        r"|croit)\b"
    ),
    "too_vague": r"j'ai (?:encore )?(?:une question|un problème)\b|.{0,60}\blà-dessus\W*$",
    "code": (
        r"(?:mon|le|la|ma|mes|les) (?:programme|code|script|tests?|fonction|serveur|build) (?:ne|n'"
        r"|plante|échoue|renvoie)"
    ),
}
_ES_KIN = (
    r"(?:ex-?)?(?:mujer|esposa|marido|esposo|parejas?|novi[oa]|hij[oa]s?|bebé|madre|mamá|padre"
    r"|papá|padres|herman[oa]s?|abuel[oa]s?|tí[oa]s?|prim[oa]s?|sobrin[oa]s?|suegr[oa]s?"
    r"|cuñad[oa]s?|niet[oa]s?|amig[oa]s?|compañer[oa]s?(?: de (?:piso|trabajo))?|jef[ea]"
    r"|vecin[oa]s?|médic[oa]|perr[oa]s?|gat[oa]s?|caballos?|conejos?|familia|gemel[oa]s)"
)
_ES_NOT = (
    r"(?!(?:cansad[oa]|enferm[oa]|segur[oa]|list[oa]|aquí|triste|content[oa]|feliz|ahora|hoy"
    r"|est[eao]|es[eao]|el siguiente|intentando|tratando|un poco|muy (?:cansad|content|feliz)\w*"
    r"|perdid[oa]|tu|una pregunta|un problema|un error|una duda|que|lo|ganas|hambre|sueño"
    r"|miedo de)\b)"
)
SPANISH = {
    "fact": (
        rf"(?:yo )?(?:soy|me llamo|no soy) {_ES_NOT}\w|tengo \d+ años|estoy (?:casad|divorciad"
        rf"|jubilad|embarazad|"
        r"solter|preñad)\w+"
        rf"|(?:yo )?(?:vivo|trabajo(?! en (?:esto|eso|ello))|estudio|hablo|vengo de|nací|crecí"
        rf"|juego|toco|conduzco|bebo"
        r"|como (?!puedo|se|hago|lo|un|una|si)|uso|utilizo|fumo|enseño|dirijo|alquilo|cocino"
        r"|corro|peso|gano|mido|tomo (?:\d|todos|cada|medic)|no (?:como|bebo|fumo|tolero|hablo"
        r"|conduzco|tengo (?:coche|carro|hij\w+))"
        r"|padezco|sufro de|me (?:dedico a|levanto|acuesto|despierto)|no (?:sé|puedo) (?:nadar"
        r"|conducir"
        rf"|cocinar|comer|beber|bailar|leer))\b(?! (?:esto|eso|este código|el siguiente)\b)"
        rf"|(?:yo )?tengo (?:[\w'-]+ ){{0,4}}?(?:{_ES_KIN}|alergias?"
        rf"|diabetes|asma|migrañas?|tdah|casa|piso|jardín|coche"
        r"|carro|moto|bici|bicicleta|licenciatura|máster|empresa|tienda|años de experiencia"
        r"|intolerancia)\b|soy alérgic[oa] \w|me (?:mudé|gradué|casé|jubilé|divorcié"
        r"|diagnosticaron|operaron) \w"
        rf"|(?:mi|mis|nuestr[oa]s?) (?:[\w-]+ ){{0,2}}?{_ES_KIN}(?: de \d+ años)?(?:,? [\w-]+,?)?"
        rf" (?:es|son|tiene|tienen|se llama|se llaman"
        r"|vive|viven|trabaja|trabajan|ama|odia|estudia|juega|toca|habla|come|no (?:come|puede"
        r"|tolera|bebe)|cumple|está"
        rf" (?:embarazada|casad|jubilad)|nació|murió|falleció|va a|usa) {_ES_NOT}\w"
        r"|(?:mi|mis|nuestr[oa]s?) (?:[\w-]+ ){0,2}?(?:nombre|cumpleaños|dirección|profesión"
        r"|trabajo|afición|pasión|lengua materna|objetivo|meta|presupuesto|sueldo|salario"
        r"|alquiler|coche|portátil|ordenador|teléfono|jardín|casa|piso|equipo|empresa|web"
        r"|servidor|base de datos|backend|frontend|proyecto|api|vuelo|tren|cita|boda)"
        rf"(?: de [\w-]+)? (?:es|son|se llama|tiene|corre|usa|utiliza|está en|sale"
        rf"|funciona con) {_ES_NOT}\w"
        r"|(?:yo )?no tengo (?!ni|idea|tiempo|problema|preguntas?|dudas?|ganas|hambre|sed|sueño"
        r"|miedo)\w"
        rf"|mi (?:\w+ )?{_ES_KIN}(?: [\w-]+)? y yo \w"
        r"|(?:nosotros |en (?:la empresa|el equipo) )?(?:usamos|utilizamos|vivimos"
        r"|trabajamos (?!en esto)|vendemos"
        rf"|desplegamos|tenemos (?:un|una|dos|tres|\d)|somos (?:un|una|\d)) {_ES_NOT}\w"
        r"|(?:hemos )?(?:decidido|decidimos|acordamos|elegimos|optamos) \w"
    ),
    "preference": (
        r"(?:yo )?(?:prefiero|odio|detesto|amo|preferimos) (?!(?:esto|eso|que tú|est[ea]"
        r"|la (?:segunda|primera|idea))\b)\w|(?:a mí )?(?:no )?me (?:gustan?"
        r"|encantan?) (?!(?:esto|eso|tu|est[ea]|la (?:segunda|primera|idea)|cómo"
        r"|más (?:la (?:segunda|primera)|est[ea])|que)\b)\w|mi [\w ]{2,30} (?:favorit[oa]s?"
        r"|preferid[oa]s?) (?:es|son) \w"
    ),
    "general": (
        r"(?:estoy )?(?:aprendiendo|aprendo|entrenando para|ahorrando para|preparando (?:un|mi|el"
        r"|las)|planeando|escribiendo (?:un|mi) (?:libro|novela|tesis)|buscando (?:trabajo|piso"
        r"|empleo|casa)) ?\w|quiero (?:aprender|bajar|mudarme|ser) \w|(?:recuerda|ten en cuenta"
        r"|toma nota|para que sepas|por cierto)[:, ]+(?:que )?(?!tú|de)\w|mi (?:objetivo"
        r"|meta) es \w"
    ),
    "question": r"(?:qué|cómo|cuál|cuándo|dónde|quién|por qué)\b",
    "hypothetical": (
        r"(?:si (?:yo|\w+[aei]ra)|imagin[ae]|sup[oó]n\w*|quiz[aá]s?|tal vez|a lo mejor|ojalá"
        r"|puede que|podría)\b"
    ),
    "request": (
        r"(?:(?:escr[ií]be|expl[ií]ca|mu[eé]stra|trad[uú]ce|resúme|resum[ea](?= (?:est[ea]|el"
        r"|la)\b)|corr[ií]ge|ay[uú]da|cu[eé]nta"
        r"|recomi[eé]nda|recu[eé]rda|busca|crea|haz)(?:me|nos|lo|la)*|dime|dame|por favor|puedes"
        r"|podrías|me puedes)\b(?!\s?,? que\b)|(?:necesito|quiero) (?:un|una|ayuda|que)\b"
    ),
    "transient": (
        r"estoy (?!casad|divorciad|jubilad|embarazad|solter|separad|preñad|aprendiendo|entrenando"
        r"|ahorrando|preparando|planeando|escribiendo|buscando|de (?:vacaciones|baja)|en paro)\w"
        r"|tengo (?:(?:mucha|mucho|tanta|tanto) )?(?:hambre|sed|sueño|prisa|frío|calor|fiebre)\b"
        r"|me (?:duele|siento)\b"
    ),
    "about_others": (
        r"(?:él|ella|ellos|ellas) \w|mi (?:jef[ea]|compañer[oa]|vecin[oa]|caser[oa]) (?:dice|dijo"
        r"|escribió|quiere|cree|piensa)\b"
    ),
    "too_vague": (
        r"tengo (?:una|otra) (?:pregunta|duda)\b|tengo un problema\b|(?:vive|trabaja|tiene|está"
        r"|se llama|dice|dijo|quiere) \w"
    ),
    "code": (
        r"(?:mi|el|la) (?:código|programa|script|función|test|servidor|build) (?:no|falla|da|se)\b"
    ),
}
_PT_KIN = (
    r"(?:ex-?)?(?:mulher|esposa|marido|esposo|parceir[oa]|namorad[oa]|filh[oa]s?|bebê|bebé|mãe"
    r"|pai|pais|irmãos?|irmãs?|av[óô]s?|ti[oa]s?|prim[oa]s?|sobrinh[oa]s?|sogr[oa]s?|cunhad[oa]s?"
    r"|net[oa]s?|amig[oa]s?|colegas?|chefe|vizinh[oa]s?|médic[oa]|cachorr[oa]s?|cão|cães"
    r"|gat[oa]s?|cavalos?|coelhos?|família|gême[oa]s)"
)
_PT_NOT = (
    r"(?!(?:cansad[oa]|doente|cert[oa]|pront[oa]|aqui|triste|feliz|agora|hoje|ess[ea]|est[ea]"
    r"|isso|isto|o seguinte|tentando|um pouco|perdid[oa]|sua|uma pergunta|um problema|um erro"
    r"|uma dúvida|que|com (?:fome|sono|problema|dúvida|erro))\b)"
)
PORTUGUESE = {
    "fact": (
        rf"(?:eu )?(?:sou|me chamo|chamo-me|não sou|meu nome é|o meu nome é) {_PT_NOT}\w"
        rf"|(?:eu )?tenho \d+ anos|(?:eu )?(?:sou|"
        r"estou) (?:casad|divorciad|aposentad|grávid|solteir|reformad)\w+|(?:eu )?(?:moro|vivo"
        r"|trabalho(?! nisso|nisto)|estudo|falo|nasci|cresci|jogo|toco|dirijo|conduzo|bebo|uso"
        r"|utilizo|fumo|ensino|alugo|cozinho|corro|peso|ganho|tomo (?:\d|todo|remédio)"
        r"|não (?:como|bebo|fumo|tolero|falo|dirijo|uso|tenho (?:carro|filhos)"
        r"|sei nadar))\b(?! (?:isso"
        r"|isto|esse código|o seguinte)\b)"
        rf"|(?:eu )?tenho (?:[\w'-]+ ){{0,4}}?(?:{_PT_KIN}|alergias?|diabetes|asma|enxaquecas?"
        rf"|tdah|casa|apartamento|jardim"
        r"|carro|moto|bicicleta|bike|graduação|mestrado|empresa|loja|anos de experiência"
        r"|intolerância)\b|(?:eu )?(?:me )?(?:mudei|formei|casei|aposentei|divorciei) \w"
        r"|fui diagnosticad[oa] \w"
        rf"|(?:o |a |os |as )?(?:meus?|minhas?|noss[oa]s?) (?:[\w-]+ ){{0,2}}?{_PT_KIN}(?: de \d+"
        rf" anos)?(?:,? [\w-]+,?)? (?:é|são|tem|têm|se chama"
        r"|chama-se|mora|moram|vive|vivem|trabalha|trabalham|ama|adora|odeia|estuda|joga|toca"
        r"|fala|come|não (?:come|pode|tolera"
        rf"|bebe)|faz|nasceu|está grávida|usa) {_PT_NOT}\w"
        r"|(?:o |a |os |as )?(?:meus?|minhas?|noss[oa]s?) (?:[\w-]+ ){0,2}?(?:nome|aniversário"
        r"|endereço|profissão|trabalho|hobby|língua materna|objetivo|meta|orçamento|salário"
        r"|aluguel|carro|notebook|computador|telefone|celular|jardim|casa|apartamento|equipe"
        r"|equipa|time|empresa|site|servidor|banco de dados|backend|frontend|projeto|api|voo|trem"
        r"|consulta"
        rf"|casamento|produção) (?:é|são|se chama|tem|roda|usa|utiliza|fica|está em"
        rf"|sai) {_PT_NOT}\w"
        r"|(?:eu )?não tenho (?!ideia|tempo|problema|perguntas?|dúvidas?|vontade|fome|sono"
        r"|certeza)\w"
        rf"|(?:meu|minha) (?:\w+ )?{_PT_KIN}(?: [\w-]+)? e eu \w"
        r"|(?:nós |a gente |na empresa )?(?:usamos|usa|utilizamos|moramos|trabalhamos|vendemos"
        r"|temos (?:um|uma|dois|duas|três|\d)"
        rf"|somos (?:um|uma|\d)) {_PT_NOT}\w"
        r"|(?:nós )?(?:decidimos|escolhemos|combinamos|optamos|resolvemos) \w"
    ),
    "preference": (
        r"(?:eu )?(?:prefiro|odeio|detesto|amo|adoro|preferimos) (?!(?:isso|isto|que você|ess[ea]"
        r"|est[ea]|a (?:segunda|primeira|ideia))\b)\w|(?:eu )?(?:não )?(?:gosto"
        r"|gostamos) (?:muito |mais |de )+(?!(?:disso|isso|ess[ea]|sua|seu|a (?:segunda|primeira"
        r"|ideia))\b)\w|(?:meus?|minhas?) [\w ]{2,30} (?:favorit[oa]s?|preferid[oa]s?) (?:é"
        r"|são) \w"
    ),
    "general": (
        r"(?:eu )?(?:estou )?(?:aprendendo|a aprender|treinando para|economizando para|planejando"
        r"|escrevendo (?:um|meu|minha) (?:livro|romance|tese)|procurando (?:emprego|apartamento"
        r"|casa)) ?\w|quero (?:aprender|emagrecer|me mudar|ser) \w|(?:lembre(?:-se)?|lembra|anota"
        r"|para sua informação|a propósito)[:, ]+(?:de )?(?:que )?(?!você)\w"
        r"|(?:o )?meu objetivo é \w"
    ),
    "question": r"(?:o que|como (?:posso|faço)|onde|por que|qual)\b",
    "hypothetical": r"(?:se eu|imagin[ea]|suponha|talvez|quem sabe|tomara|eu poderia)\b",
    "request": (
        r"(?:(?:escrev[ae]|mostr[ae]|explique|tradu(?:z|za)|resuma|corrij[ae]|ajud[ae]|faça"
        r"|recomende)(?:-me)?|me (?:dê|dá|diga|ajud[ae]|mostr[ae]|expli(?:ca|que)|cont[ae]"
        r"|escrev[ae]"
        r"|lembr[ae])|por favor|você pode)\b|(?:preciso (?:de )?|quero )(?:uma?|ajuda|que)\b"
    ),
    "transient": (
        r"(?:eu )?(?:estou|tô|tou) (?!casad|divorciad|aposentad|grávid|solteir|reformad|aprendendo"
        r"|treinando|economizando|planejando|escrevendo|procurando|a aprender|de (?:férias"
        r"|licença))\w"
    ),
    "about_others": (
        r"(?:eles?|elas?) \w|(?:o |a )?(?:meu|minha) (?:chefe|colega|vizinh[oa]) (?:disse|escreveu"
        r"|quer|acha|fala)\b"
    ),
    "too_vague": r"(?:eu )?tenho (?:(?:uma|outra) (?:pergunta|dúvida)|um problema)\b",
    "code": (r"(?:o |a )?(?:meu|minha) (?:código|programa|script|função|teste) (?:não|falha|dá)\b"),
}
_IT_KIN = (
    r"(?:ex )?(?:moglie|marito|compagn[oa]|fidanzat[oa]|figli[oa]?|figlie|bambin[oaie]|mamma"
    r"|madre|papà|padre|genitori|fratell[oi]|sorell[ae]|nonn[oaie]|zi[oai]|cugin[oaie]|nipot[ei]"
    r"|suocer[oai]|amic[oahei]+|coinquilin[oaie]|capo|collegh?[aie]|vicin[oaie]|medico|cane|cani"
    r"|gatt[oaie]|cavall[oi]|conigli[oa]?|famiglia|gemell[ei])"
)
_IT_NOT = (
    r"(?!(?:stanc[oa]|malat[oa]|sicur[oa]|pront[oa]|qui|triste|content[oa]|felice|ora|adesso|oggi"
    r"|quest[oa]|quell[oa]|il seguente|un po'|pers[oa]|bloccat[oa]|tu|una domanda|un problema"
    r"|un errore|un dubbio|che|d'accordo|bisogno|fame|sonno)\b)"
)
ITALIAN = {
    "fact": (
        rf"(?:io )?(?:sono|mi chiamo|non sono) {_IT_NOT}\w|(?:io )?ho \d+ anni"
        r"|(?:io )?(?:abito|vivo|lavoro(?! a (?:questo|quello))|studio|parlo|vengo da|gioco|suono"
        r"|guido|bevo|mangio|uso|utilizzo|fumo|insegno|dirigo|cucino|corro|peso|guadagno"
        r"|prendo (?:\d|ogni|un farmaco)|non (?:mangio|bevo|fumo|tollero|parlo|guido"
        r"|uso|so nuotare|ho (?:la |una )?(?:macchina|auto|figli)))\b(?! (?:questo|quello"
        r"|il seguente)\b)"
        rf"|(?:io )?ho (?:[\w'-]+ ){{0,4}}?(?:{_IT_KIN}|allergi[ae]|diabete|asma|emicrani[ae]"
        rf"|adhd|casa|appartamento|giardino"
        r"|macchina|auto|moto|bici|bicicletta|laurea|azienda|negozio|anni di esperienza"
        r"|intolleranza)\b|mi sono (?:trasferit|laureat|sposat|separat)[oa] \w|sono (?:nat[oa]"
        r"|cresciut[oa]) \w"
        rf"|(?:il |la |i |le )?(?:mi[oae]|miei|nostr[oaie]) (?:[\w-]+ ){{0,2}}?{_IT_KIN}(?: di"
        rf" \d+ anni)?(?:,? [\w-]+,?)? (?:è|sono|ha|hanno|si"
        r" chiama|si chiamano|vive|vivono|abita|abitano|lavora|lavorano|ama|odia|studia|gioca"
        r"|suona|parla|mangia|non (?:mangia"
        rf"|può|tollera|beve)|compie|usa|fa) {_IT_NOT}\w"
        r"|(?:il |la |i |le )?(?:mi[oae]|miei|nostr[oaie]) (?:[\w-]+ ){0,2}?(?:nome|compleanno"
        r"|indirizzo|professione|lavoro|hobby|lingua madre|obiettivo|budget|stipendio|affitto"
        r"|macchina|auto|portatile|computer|telefono|giardino|casa|appartamento|team|azienda"
        r"|ditta|sito|server|database|backend|frontend|progetto|api|volo|treno|appuntamento"
        r"|matrimonio) (?:è|sono|si"
        rf" chiama|ha|gira|usa|utilizza|si trova|parte) {_IT_NOT}\w"
        r"|(?:io )?non ho (?!idea|tempo|problem\w|domande|dubbi|voglia|fame|sete|sonno|capito)\w"
        rf"|(?:io e )?(?:mi[oa]) (?:\w+ )?{_IT_KIN}(?: [\w-]+)?(?: e io)? (?:abbiamo|siamo|viviamo"
        r"|abitiamo) \w|faccio (?:il|la|l')\s?\w"
        r"|(?:noi |in (?:azienda|ufficio) )?(?:usiamo|utilizziamo|viviamo|lavoriamo (?!a questo)"
        r"|vendiamo|abbiamo (?:un|una|due"
        rf"|tre|\d)|siamo (?:un|una|in \d)) {_IT_NOT}\w"
        r"|(?:noi )?(?:abbiamo (?:deciso|scelto|concordato|optato)) \w"
    ),
    "preference": (
        r"(?:io )?(?:preferisco|odio|detesto|amo|adoro|preferiamo) (?!(?:questo|quello|che tu"
        r"|quest[ao]|la (?:seconda|prima|idea))\b)\w|(?:a me )?(?:non )?mi piac(?:e"
        r"|ciono) (?!(?:questo|quello|quest[ao]|la (?:tua|seconda|prima|idea)|il tuo|come"
        r"|di più (?:la|quest))\b)\w|(?:il |la )?mi[oa] [\w ]{2,30} (?:preferit[oa]"
        r"|preferiti) (?:è|sono) \w"
    ),
    "general": (
        r"(?:sto )?(?:imparando|imparo|allenando per|risparmiando per|preparando (?:un|la|l')"
        r"|scrivendo (?:un|la mia) (?:libro|romanzo|tesi)|cercando (?:lavoro|casa)) ?\w"
        r"|voglio (?:imparare|dimagrire|trasferirmi|diventare) \w|(?:ricorda|tieni presente"
        r"|tieni conto|per tua informazione|a proposito)[:, ]+(?:che )?(?!tu)\w"
        r"|(?:il )?mio obiettivo è \w"
    ),
    "question": r"(?:perché|come (?:si|posso|faccio)|dove|quanto|qual)\b",
    "hypothetical": (
        r"(?:se (?:io|\w+ss[ie])|immagina\w*|suppon\w+|forse|magari|potrei|vorrei (?:essere"
        r"|avere))\b"
    ),
    "request": (
        r"(?:(?:scrivi|mostra|spiega|traduci|riassumi|correggi|aiuta|racconta|consiglia)(?:mi|lo"
        r"|la)?"
        r"|dammi|dimmi|fammi|ricordami|puoi|potresti|per favore)\b|ho bisogno di|vorrei (?:una?"
        r"|che)\b"
    ),
    "transient": (
        r"sono (?:(?:molto|così|troppo|davvero|già|un po') )*(?:stanc[oa]|malat[oa]|pront[oa]"
        r"|triste"
        r"|felice|content[oa]|pers[oa]|stressat[oa]|bloccat[oa]|affamat[oa]|in (?:ritardo|ufficio"
        r"|treno"
        r"|macchina|riunione)|all'(?:aeroporto|ospedale)|al (?:lavoro|bar)|a (?:casa|letto)"
        r"|alla stazione)\b|ho (?:(?:molta|tanta) )?(?:fame|sete|sonno|freddo|caldo|fretta"
        r"|mal di)\b"
        r"|sto (?!imparando|risparmiando|preparando|scrivendo|cercando)\w"
    ),
    "about_others": (
        r"(?:lui|lei|loro) \w|(?:il |la )?mi[oa] (?:capo|collega|vicin[oa]) (?:dice|ha (?:detto"
        r"|scritto)"
        r"|vuole|pensa)\b"
    ),
    "too_vague": (r"ho (?:una domanda|un dubbio|un problema)\b|(?:abita|lavora|vive|si chiama) \w"),
    "code": r"(?:il |la )?mi[oa] (?:codice|programma|script|funzione|test) (?:non|fallisce|dà)\b",
}
