"""French."""

from __future__ import annotations

from memtree.text.rule_score import Phrases

_MANNERS = (
    "réponds|répondez|répondre|utilise|utilisez|utiliser|emploie|employez|employer|écris|écrivez|"
    "écrire|rédige|rédigez|rédiger|parle|parlez|parler|garde|gardez|garder|reste|restez|"
    "rester|cite|"
    "citez|citer|indique|indiquez|indiquer|mentionne|mentionnez|mets|mettez|mettre|formate|"
    "formatez|"
    "nomme|nommez|nommer|indente|indentez|limite|limitez|limiter|préfère|préférez|commence|"
    "commencez|"
    "termine|terminez|finis|finissez|précise|précisez|traite|traitez|sois|soyez|tiens|tenez|suis|"
    "suivez|respecte|respectez|exprime|exprimez|fais|faites|faire|place|placez|range|rangez"
)
_TASKS = (
    "ajoute|ajoutez|ajouter|donne|donnez|donner|explique|expliquez|montre|montrez|vérifie|vérifiez|"
    "vérifier|demande|demandez|demander|préviens|prévenez|propose|proposez|inclus|incluez|inclure|"
    "lance|lancez|lancer|exécute|exécutez|teste|testez|crée|créez|commente|commentez|traduis|"
    "traduisez|résume|résumez|convertis|affiche|affichez|corrige|corrigez|touche|touchez|modifie|"
    "modifiez|modifier|supprime|supprimez|supprimer|commite|pousse|pousser|rappelle|rappelez|"
    "confirme|confirmez|signale|signalez|laisse|laissez|dis|dites|dire|note|notez|évalue|compare"
)

FRENCH = Phrases(
    first=(
        f"{_MANNERS}|{_TASKS}|ne|n|n'utilise|n'ajoute|n'emploie|n'écris|pas|tous|toutes|"
        "tout|chaque|"
        "tu|vous|je|désormais|dorénavant|évite|évitez|éviter|tutoie|tutoyez|vouvoie|vouvoyez|"
        "appelle|"
        "arrête|arrêtez|cesse|jamais|toujours|aucun|aucune|merci|appelez|plus|interdit|"
        "interdiction|ici|nous|on"
    ),
    anywhere=(
        "toujours jamais désormais dorénavant doivent systématiquement avenir pas dois maintenant "
        "devez t t'adresse tutoie"
    ),
    lead=(
        r"(?:(?:et|mais|aussi|donc|ok|bon|oui|merci|stp|svp|s'il (?:te|vous) plaît|bonjour|salut|"
        r"retiens|note|rappel|attention|important|rappelle-toi|souviens-toi|n'oublie "
        r"pas)\b[\s,:!.–-]*+){1,4}+"
    ),
    standing=(
        r"\btoujours\b|\bjamais\b|\bdésormais\b|\bdorénavant\b|\bà partir de (?:maintenant|"
        r"là|ce moment)"
        r"|\bsystématiquement\b|\bà l'avenir\b|\bpar défaut\b|\ben aucun cas\b|\bsous "
        r"aucun prétexte\b"
        r"|\bdans tous les cas\b|\bà chaque fois\b|\bchaque fois\b|\bpour (?:toute )?la suite\b"
        r"|\bjusqu'à nouvel ordre\b|\bsans (?:me demander|mon accord|ma permission)\b|"
        r"\ben permanence\b"
    ),
    frame=(
        r"^avant de \w+|"
        r"\b(?:quand|lorsque|dès que|chaque fois que|à chaque fois que) (?:je|tu|vous)\b"
        r"|\b(?:quand|lorsque|dès que|chaque fois que) (?:j'|t')|^(?:avant|après) (?:chaque|tout)\b"
        r"|\bsi tu (?:ne sais pas|n'es pas sûr|as un doute)\b|\bpar réponse\b|\ben cas de doute\b"
    ),
    scope=(
        r"\bdans (?:ce|le|notre|tout le) (?:projet|dépôt|code|repo)\b|\bpour ce projet\b|\bici\b"
        r"|\bdans cette (?:conversation|discussion|base de code)\b|\bpartout\b|\btout au long\b"
    ),
    order=(
        rf"{{start}}(?:(?:toujours|jamais|désormais|surtout|veuillez|merci de|prière "
        rf"de|tu|pense à|il faut) ?,? ?)*+(?:{_MANNERS})\b"
    ),
    task=(
        rf"{{start}}(?:(?:toujours|jamais|désormais|surtout|veuillez|merci de|prière "
        rf"de|pense à) ?,? ?)*+(?:{_TASKS})\b"
    ),
    duty=(
        r"\b(?:tu dois|vous devez|tu devras|il faut (?:toujours|que tu)|tu es (?:tenu|"
        r"prié)|je te demande de|je vous demande de|merci de)\b"
    ),
    forbid=(
        r"{start}(?:ne |n')(?:\w+(?:-\w+)? |[mts]')*?(?:[\w-]+ )(?:pas|jamais|plus)\b|"
        r"{start}ne (?:pas|jamais|plus) \w+"
        r"|\btu ne (?:dois|peux) (?:pas|jamais)\b|\bvous ne devez (?:pas|jamais)\b|{start}(?:évit"
        r"e[zr]?|arrête[zr]?|cesse[zr]?)\b"
        r"|^(?:pas|plus|jamais|aucune?|zéro) (?:de |d')?\w+|\b(?:interdit|interdiction|"
        r"proscri[st])\b"
        r"|\bje ne (?:veux|souhaite|voudrais) (?:pas|plus|jamais|aucune?) (?:de |d'|voir |que )"
    ),
    wish=(
        r"\bje préfère(?:rais)? que tu\b|\bje n'ai pas besoin d|\bje (?:veux|voudrais|"
        r"souhaite|préfère|préférerais|préfere|aimerais|ne veux "
        r"(?:pas|plus|jamais))\b"
    ),
    norm=(
        r"^(?!ils|elles|(?:\w+ ){1,2}(?:employés|clients|visiteurs|enfants|élèves|gens|passagers|"
        r"participants|citoyens)\b)[\w' /-]{3,60}?\b(?:doivent|devront|devraient|sont à)\b"
        r"|^(?:chaque|tout|toute|aucun|aucune) [\w' /-]{3,60}?\b(?:doit|devra|devrait|est à)\b"
    ),
    habit=(
        r"\b(?:on|nous) (?:n')?(?:utilis|indent|écri|nomm|travaill|déploi|met|emplo|commit|"
        r"préf)\w*"
    ),
    style=(
        r"\b(?:tes|vos|les|chaque|toutes les|mes) (?:\w+ )?(?:réponses?|explications?|"
        r"messages?|textes?|phrases|commentaires|résumés|suggestions|exemples)\b|\bchaque "
        r"réponse\b|\bta réponse\b|\b(?:émojis?|émoticônes?|anglicismes?|jargon|tutoi\w+|"
        r"vouvoi\w+|listes? à puces|puces|points? d'exclamation|points?-virgules?|tabulations|"
        r"espaces|majuscules|guillemets|commentaires|système métrique|termes techniques|"
        r"spoilers?|ton (?:formel|neutre|amical|professionnel)|argot|abréviations|sigles|"
        r"noms de (?:variables?|fichiers?|branches?|fonctions?)|messages de commit|voix "
        r"passive|voix active|gros mots|métaphores|personnage|grammes|phrases (?:courtes|"
        r"simples|longues|complètes)|noms? en anglais|en anglais)\b|\b(?:moins de|au "
        r"plus|maximum|pas plus de|en|sous|au maximum|dépass\w+) (?:\d+|une|deux|trois|"
        r"cinq|dix) (?:mots?|phrases?|lignes?|caractères?|paragraphes?)\b|\b(?:répon\w+|"
        r"écri\w+|parl\w+|rédig\w+)(?:-moi)? (?:\w+ ){0,2}?(?:en|uniquement en) (?:français|"
        r"anglais|allemand|espagnol|italien|portugais|néerlandais|russe|chinois|japonais|"
        r"arabe|vers|rimes|une phrase|prose)\b|\b(?:répon\w+|parl\w+|écri\w+|expliqu\w+) "
        r"(?:\w+ )?(?:brièvement|simplement|poliment|court|de (?:façon|manière) \w+|comme "
        r"(?:si|à|un)|avec (?:politesse|humour))"
        r"|\b(?:résumés?|introductions?|conclusions?|vouvoiement|tutoiement)\b"
    ),
    work=(
        r"\b(?:fichiers?|dossiers?|répertoires?|fonctions?|classes?|branches?|dépendances?|"
        r"bibliothèques?|paquets?|"
        r"variables?|base de données|migrations?|commandes?|linter|modules?|composants?|"
        r"requêtes?|schéma|recettes?|liens?)\b"
        r"|\b(?:dates|prix|unités|tableaux|titres|blagues?|excuses|sources?)\b"
    ),
    every=(
        r"^(?:tous|toutes|tout|chaque|seulement|uniquement)\b|\b(?:seulement|uniquement|"
        r"exclusivement)\b"
    ),
    contrast=(
        r"\bau lieu d|\bplutôt que\b|\bet (?:non|pas)\b|, (?:pas|non|jamais) \w+|\bà "
        r"la place d"
    ),
    tell=(
        r"{start}(?:ne |n')(?:me )?(?:propose|recommande|suggère|mentionne|utilise|ajoute|"
        r"répète|excuse|invente|résume|révèle|"
        r"écris|explique|mets|commence|termine|emploie|proposez|utilisez|ajoutez|recommandez)\w* "
        r"(?:pas|jamais|plus)\b(?! (?:le |la |l'|ce |cette |encore))"
    ),
    fixed=(
        r"^(?:sois|soyez|reste|restez) (?:toujours |plus )?(?:bref|brève|brefs|concise?|"
        r"direct\w*|poli\w*|formel\w*|factuel\w*|succinct\w*)\b"
        r"|{start}(?:tutoie|vouvoie|tutoyez|vouvoyez|tutoyons)\b|^(?:appelle|appelez|"
        r"nomme)-moi (?!demain|plus|quand|ce|si|dès|vite|à|au|lundi)"
        r"|{start}(?:demande|préviens|consulte|demandez|prévenez)(?:-moi)? .{0,30}\bavant "
        r"d|^règle(?: \d+)? ?: \w|\breste[sz]? dans (?:ton|le|votre) (?:rôle|personnage)\b"
        r"|\bne (?:parle|agis|décide|parlez) (?:jamais|pas) (?:pour|à la place)\b|\bbrièvement\b."
        r"*\btoujours\b|\btoujours\b.*\bbrièvement\b"
        r"|\badresse-toi à moi\b|\bparle-moi comme\b"
        r"|^avant d[^,]{3,60}, ?(?:\w+ )?(?:demande|préviens|consulte|demandez|prévenez)"
        r"|\b(?:à partir de maintenant|désormais|dorénavant|à l'avenir)\b.{0,30}\ben "
        r"(?:français|anglais|allemand|espagnol|italien|arabe)\b"
    ),
    nearly=(
        r"^(?:tiens-t'en|tenez-vous-en|limite-toi|limitez-vous|contente-toi|respecte|"
        r"respectez) "
    ),
    polite=(
        r"\b(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|tu peux|tu pourrais) (?:\w+ "
        r")?(?:toujours|arrêter de|éviter de|ne (?:plus|jamais|pas)|désormais)\b"
    ),
    definite=(
        rf"{{start}}(?:{_MANNERS}|{_TASKS})(?:-moi)? (?:le|la|l'|les|ce|cet|cette|ces|mon|ma) ?"
        r"(?!sources?|dates|prix|noms|réponses|commentaires)"
    ),
    once=(
        r"\b(?:cette fois|pour l'instant|pour le moment|maintenant (?!on)|aujourd'hui|"
        r"demain|ce soir|deuxième|seconde?|troisième|première question|"
        r"encore une fois|ci-dessous|ci-dessus|suivante?|précédente?|seulement à la|lundi|"
        r"mardi|mercredi|jeudi|vendredi|samedi|dimanche|cet après-midi)\b"
    ),
    against=(
        r"^(?:je|j'|il|elle|on|nous|ils|elles|mon|ma|mes|son|sa|leur|le|la|l'|c'|ce|cette|"
        r"cela|ça)(?: ?\w+){1,4}? (?:toujours|jamais)\b"
        r"|^(?:j'ai|je (?:vais|suis|travaille|pense|crois|sais)|il (?:faut|ne faut|est|"
        r"a)|elle|ils|nous (?:sommes|avons|étions|allions))\b(?!.*\b(?:tu|tes|vos|vous) "
        r")"
        r"|\b(?:espoir|courage|rêves?|bonheur|inquiète|inquiétez|oublie pas d|baisse "
        r"pas les bras|abandonne)\b|\b(?:a|ont|avait) (?:dit|écrit)\b|\bdisait\b"
        r"|\bà partir de (?:lundi|demain|la semaine)\b"
    ),
    asks=r"^(?:pourquoi|comment|quand est-ce|est-ce que|qu'est-ce|que signifie|qui)\b",
)
