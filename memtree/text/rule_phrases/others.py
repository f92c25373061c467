"""Turkish, Arabic and Hindi."""

from __future__ import annotations

from memtree.text.rule_score import Phrases

_TR_DO = (
    r"(?:ver|yaz|kullan|et|yap|göster|ekle|sor|söyle|konuş|kaçın|tut|belirt|kal|ol|iste|"
    r"uy|başla|bitir|anlat|açıkla|cevapla|yanıtla|davran|bırak|koru|çalıştır|kontrol "
    r"et|onayla|listele|yerleştir|adlandır|seç|dön|uyar|al|at|dur|koy|test et|hitap et|"
    r"bildir|bak|geç|sakla|kaydet)"
)
TURKISH = Phrases(
    anywhere=(
        "her daima hep asla sonra böyle artık itibaren mutlaka kesinlikle hiçbir varsayılan "
        "yasak yok kullan kullanma kullanın kullanmayın kullanmayınız ver verin yaz yazma "
        "yazın yazmayın et etme ekle ekleme kaçın sor sorun söyle konuş "
        "tut belirt kal ol tüm bütün lütfen istiyorum isterim yerine bana kural tercih "
        "olmalı olmamalı gerekir projede hitap sadece yalnızca zaman asla dokunma değiştirme "
        "silme önerme önermeyin göster yap yapma kısa cevap cevapla yanıtla açıkla bahsetme "
        "tekrarlama bırak kullanıyoruz"
    ),
    lead=(
        r"(?:(?:ve|ama|ayrıca|bir de|tamam|peki|evet|lütfen|teşekkürler|sağ ol|merhaba|"
        r"selam|önemli|dikkat|not|unutma(?=[:,])|hatırla|aklında olsun|bu arada)\b[\s,:!.–-]*+){1"
        r",4}+"
    ),
    standing=(
        r"\bher zaman\b|\bdaima\b|\bhep\b|\basla\b|\bhiçbir (?:zaman|koşulda|şekilde|"
        r"durumda)\b|\bbundan (?:sonra|böyle)\b|\bartık\b|\bileride\b|\bşu andan itibaren\b|"
        r"\bvarsayılan olarak\b|\bmutlaka\b|\bkesinlikle\b|\bher (?:seferinde|defasında|"
        r"durumda)\b|\b(?:bana sormadan|iznim olmadan)\b|\bistisnasız\b|\bsakın\b"
    ),
    frame=(
        r"\b\w+(?:rken|ken)\b|\b(?:sana|bana) .{1,20}(?:sorduğumda|dediğimde)\b|\b\w+(?:dığında|"
        r"diğinde|duğunda|düğünde|dığımda|diğimde|duğumda|tığında|tiğinde)\b|\b\w+(?:madan|"
        r"meden) önce\b|\b\w+(?:dıktan|dikten|duktan|dükten|tıktan|tikten) sonra\b|^her "
        r".{1,20}(?:önce|sonra)\b|\bemin değilsen\b|\bbilmiyorsan\b"
    ),
    scope=(
        r"\bbu (?:projede|proje|depoda|repoda|kodda|sohbette|konuşmada|kod tabanında)\b|"
        r"\bburada\b|\bprojede\b|\bher yerde\b|\bprojemizde\b"
    ),
    order=(
        rf"\b{_TR_DO}(?:in|ın|un|ün|iniz|ınız|unuz|yin|yın|ir misin|ar mısın)?[.!]*$|"
        rf"{{start}}{_TR_DO}\b"
    ),
    duty=r"\b\w+(?:malısın|melisin|malısınız|melisiniz)\b|\bgerekiyor\b|\blazım\b|\bzorundasın\b",
    forbid=(
        r"\b(?!unutma|merak etme|endişelenme|üzülme)\w+[^\W\d_](?:ma|me)(?:yın|yin|yınız|"
        r"yiniz)?[.!]*$|\b(?:kaçın|yasak|yasaktır|uzak dur)\b|\b(?:yok|olmasın)[.!]*$|"
        r"\b\w+(?:mamalı|memeli)\w*\b|\bbırak[.!]*$"
    ),
    wish=r"\b(?:istiyorum|isterim|tercih ederim|istemiyorum|rica ediyorum)\b",
    norm=r"\b\w+(?:malı|meli|malıdır|melidir)[.!]*$|\bgerekir\b|\bzorunlu\b|\bolmalı\w*\b",
    habit=r"\b(?:kullanıyoruz|kullanırız|yazıyoruz|yazarız|tercih ediyoruz)\b",
    style=(
        r"\b(?:cevap|yanıt|açıklama)(?:lar|ler)?(?:ın|in|ında|inde|ını|ini|ının|inin|"
        r"da|de|ı|i|larında|lerinde)?\b(?! vermedi)|\bmesajlar\w*\b|\b(?:teknik terim\w*|"
        r"jargon|madde işaret\w*|ünlem\w*|noktalı virgül|sekme\w*|boşluk\w*|büyük harf\w*|"
        r"tırnak\w*|yorum (?:satır\w*|ekle\w*|yaz\w*)|metrik|spoiler|üslup|ton\w*|kısaltma\w*|"
        r"değişken ad\w*|dosya ad\w*|edilgen|argo|küfür|rol\w*|senli benli|siz diye|adımla|"
        r"emojiler|resmi bir dil)\b|\b(?:\d+|bir|iki|üç|beş|on|yüz) (?:kelime|cümle|satır|"
        r"karakter|paragraf)\w*\b(?=.*(?:kısa|az|geçme|aşma|içinde|tut|sınır|cevap|yanıt))|"
        r"\b(?:türkçe|ingilizce|almanca|fransızca|arapça|rusça) (?:olarak )?(?:cevap|"
        r"yanıt|konuş|yaz|ver)|\b(?:kısa|öz|sade|kibar|resmi|ayrıntılı) (?:ve \w+ )?(?:cevap|"
        r"yanıt|konuş|yaz|tut|açıkla)"
        r"|\b(?:özet\w*|giriş cümle\w*)\b"
    ),
    work=(
        r"\b(?:dosya\w*|klasör\w*|dizin\w*|fonksiyon\w*|sınıf\w*|dal\w{0,3}|bağımlılık\w*|"
        r"kütüphane\w*|paket\w*|değişken\w*|veritaban\w*|komut\w*|modül\w*|bileşen\w*|"
        r"sorgu\w*|test\w*|commit\w*|kod\w*|şema\w*|tarif\w*|bağlantı\w*)\b"
        r"|\b(?:fiyat\w*|tarih\w*|başlık\w*|tablo\w*|kaynak\w*|birim\w*|şaka\w*|özür)\b"
    ),
    every=r"^(?:tüm|bütün|her|sadece|yalnızca)\b|\b(?:sadece|yalnızca)\b",
    contrast=r"\byerine\b|, \w+ değil\b",
    tell=(
        r"\b(?:önerme|kullanma|ekleme|tekrarlama|bahsetme|uydurma|özetleme|yazma|açıklama "
        r"yapma|özür dileme|varsayma|başlama|bitirme)(?:yın|yin|yınız|yiniz)?[.!]*$"
    ),
    fixed=(
        r"\bbana .{1,30}(?:hitap et|diye seslen|de[.!]*$)|\b\w+(?:madan|meden) önce.{0,30}(?:sor|"
        r"haber ver|onay al|uyar)|^kural(?: \d+)?: |^(?:her zaman )?(?:kısa|öz|kısaca)(?: "
        r"ve öz)? (?:cevap|yanıt|yaz|konuş)|\brol(?:ünde|de) kal|\bbenim yerime (?:konuşma|"
        r"karar verme)|^(?:kısa|net|öz|resmi|kibar) ol[.!]*$"
    ),
    nearly=r"\b(?:uy|bağlı kal)(?:un)?[.!]*$",
    polite=(
        r"\b(?:bundan sonra|her zaman|artık) .{1,40}(?:misin|mısın|musun|müsün|misiniz|"
        r"mısınız)\b"
    ),
    definite=(
        r"^(?:bu|şu|o) (?!projede|proje|depoda|repoda|kodda|sohbette|konuşmada)\w+|\bhakkında "
        r"bir\b"
    ),
    once=(
        r"\b(?:bu sefer|bu kez|şimdilik|şimdi|bugün|yarın|bu akşam|ikinci|üçüncü|tekrar|"
        r"yeniden|aşağıdaki|yukarıdaki|sonraki|önceki|ilk soru\w*|pazartesi\w*|salı|çarşamba|"
        r"perşembe|cuma)\b"
    ),
    against=(
        r"^(?:ben|o|onlar|biz|annem|babam|kardeşim|arkadaşım|benim)\b|\b(?:umud\w*|umut\w*|"
        r"pes etme|vazgeçme|hayal\w*|kalbi\w*|endişelenme|merak etme|unutma(?![:,]))\b|"
        r"\b(?:dedi|diyor|söyledi|demişti)\b|\b\w+(?:mişimdir|mışımdır|dım|dim|dum|düm|"
        r"tım|tim|mez|maz)[.!]*$"
    ),
    asks=r"^(?:neden|niye|nasıl|ne |kim)\b|\b(?:mi|mı|mu|mü)[.]?$",
)

# Written as `standing_rules` gives Arabic: without vowel signs, all alefs and the final ya and ta
# marbuta alike.
_AR_DO = (
    r"(?:اجب|استخدم|اكتب|اذكر|تحدث|تكلم|خاطبني|نادني|اضف|استعمل|حافظ|اجعل|ضع|التزم|اختصر|"
    r"رد|كن|وضح|اشرح|اسال|اسالني|استشرني|قدم|اعط|اعطني|ابدا ب|اختم|اتبع|لخص|ترجم|اعرض|"
    r"اظهر|تاكد|تحقق|اخبرني|نبهني|احرص|اعتمد|ابق|راجع|شغل|اختبر|سم|اكتف|عاملني|فضل|قل)"
)
ARABIC = Phrases(
    marks=(
        r"دائما|دوما|ابدا|من الان|من اليوم|مستقبلا|المستقبل|كلما|كل مره|لا ت|ممنوع|يمنع|"
        r"يحظر|تجنب|توقف|يجب|عليك|اريد|ارجو|رجاء|من فضلك|استخدم|اجب|اكتب|اذكر|كن |خاطبني|"
        r"نادني|التزم|اختصر|رد |بدلا|جميع|مطلقا|حصرا|قاعده|اضف|نستخدم|افتراضيا|اشرح|قبل |جمل|احرص|"
        r"تكلم|تحدث"
    ),
    lead=(
        r"(?:(?:و|ايضا|لكن|حسنا|نعم|من فضلك|رجاء|لو سمحت|شكرا|مرحبا|مهم|ملاحظه|تذكر|انتبه|"
        r"لا تنس(?= ?[:،])|تنبيه)(?![\w])[\s,،:!.–-]*+){1,4}+"
    ),
    standing=(
        r"دائما|دوما|(?<!\w)ابدا(?! ب)|من الان(?: فصاعدا)?|من اليوم|من هذه اللحظه|مستقبلا|"
        r"في المستقبل|كل مره|كلما|افتراضيا|مطلقا|باستمرار|تحت اي ظرف|باي حال|في جميع "
        r"الاحوال|دون (?:ان تسالني|اذني|استثناء)|بدون (?:اذني|استثناء)|حصرا|الا اذا طلبت"
    ),
    frame=(
        r"كلما|(?:عندما|حين|اذا|قبل ان|بعد ان|عند) (?:ت|ا)?(?:كتب|جيب|قترح|غير|عدل|نشئ|"
        r"ضيف|طلب|سال|شرح|كتبت|طلبت|سالت|كتابه|الكتابه|لم تكن متاكدا|كنت غير متاكد|الشك)|"
        r"في كل (?:رد|اجابه)|قبل (?:كل|حذف|تعديل|اي)"
    ),
    scope=(
        r"في (?:هذا|هذه|كل) (?:المشروع|المستودع|الكود|المحادثه|الشيفره|الدردشه)|هنا(?!ك)|"
        r"في مشروعنا|في المشروع|في كل مكان"
    ),
    order=(
        rf"كلما .{{1,30}}?{_AR_DO}(?!\w)"
        rf"|(?:^|[،,:؛] ?|فصاعدا |دائما |فقط |اليوم |فضلك )(?:و|ف)?{_AR_DO}(?!\w)"
        r"|من الان (?:فصاعدا )?(?:تحدث|تكلم|اكتب|اجب|استخدم|رد)"
    ),
    duty=r"(?:يجب|ينبغي)(?: عليك)? ان ت|عليك ان|عليك دائما|لا بد ان ت",
    forbid=(
        r"(?:^|[،,:؛] ?|فصاعدا |فضلك )لا (?!تقلق|تنس|تخف|تحزن)ت\w+|ممنوع|يمنع|يحظر|(?:^|"
        r"[،,:] ?)(?:تجنب|توقف عن|امتنع عن|كف عن)|(?:^|: ?)(?:بدون|دون|بلا) \w+"
        r"|^لا اريد (?!ان اذهب|ان اكل)"
    ),
    wish=(
        r"(?:اريد|ارغب|اود|افضل|ارجو|اتمنى|احب)(?: منك)?(?: دائما)? (?:ان|منك|اجابات|"
        r"ردود)|لا اريد"
    ),
    norm=(
        r"(?:يجب|ينبغي|لا بد) ان (?:ت|ي)\w+ (?:جميع|كل|كافه)|^(?:جميع|كل|كافه) .{1,30}(?:يجب|"
        r"ينبغي)"
    ),
    habit=r"(?:نحن )?نستخدم|نكتب|نعتمد",
    style=(
        r"(?:اجابات|ردود|اجاب|رد|شرح|رسائل|نصوص)(?:تك|ك|كم|اتك)(?!\w)|الاجابات|الردود|"
        r"اجاباتك|ردودك|كل (?:رد|اجابه)|رموز? (?:ال)?تعبيري\w*|الرموز التعبيريه|ايموجي|"
        r"المصطلحات|مصطلحات|العاميه|الفصحى|علامات? (?:ال)?تعجب|الفاصله المنقوطه|فواصل "
        r"منقوطه|علامات? تبويب|مسافات|التعليقات|تعليقات|الاسعار|النظام المتري|حرق الاحداث|"
        r"نبره|اسلوب|اختصارات|اسماء المتغيرات|اسماء الملفات|رسائل الالتزام|شخصيه|الشخصيه|"
        r"باسمي|بايجاز|باختصار|مختصر\w*|موجز\w*|(?:اقل من|لا (?:ت|ي)\w+|حد اقصى|في|اكثر "
        r"من) (?:\d+|كلمه|جمله|جملتين|ثلاث|عشر)(?: (?:كلم\w*|جمل\w*|سطر|اسطر|حرف\w*))?|"
        r"ب?(?:اللغه )?(?:بال|ال)(?:عربيه|انجليزيه|فرنسيه|المانيه|تركيه)(?= ?(?:دائما|"
        r"فقط|\.|$|البسيطه|الفصحى|من))|(?:اجب|اكتب|تحدث|رد|تكلم)(?: \w+){0,2}? ب(?:ال)?(?:عربيه|"
        r"انجليزيه|فرنسيه|لغه)|جملا? قصيره"
        r"|ملخصات?|مقدمات|خاتمه"
    ),
    work=(
        r"(?:ال)?(?:ملف\w*|مجلد\w*|داله|دوال|الداله|فرع|تبعيات|مكتب\w*|حزم\w*|متغير\w*|"
        r"قاعده (?:ال)?بيانات|اوامر|وحدات|مكونات|استعلام\w*|اختبار\w*|كود\w*|شيفره|التزامات|"
        r"الالتزامات|كوميت\w*|روابط|وصفات)"
        r"|الاسعار|التواريخ|تواريخ|عناوين|جداول|المصدر|المصادر|مصادر|وحدات|نكات|الاعتذار|نقاط"
    ),
    every=(
        r"(?:جميع|كل|كافه) ال|فقط"
        r"|^(?:كل|جميع|كافه) "
    ),
    contrast=r"بدلا من|عوضا عن|وليس|، لا \w+",
    tell=(
        r"(?:^|[،,:] ?)لا (?:تقترح|توص|تذكر|تستخدم|تستعمل|تضف|تكرر|تخترع|تلخص|تكشف|تكتب|"
        r"تشرح|تعتذر|تفترض|تبدا|تنه)(?!\w)(?! هذا| هذه| ذلك)"
    ),
    fixed=(
        r"(?:^|[،,:] ?)(?:نادني|خاطبني|سمني)|(?:اسالني|تسالني|استشرني|اخبرني|نبهني|استاذن)\w*.{0,"
        r"14}قبل|قبل .{1,25}(?:اسالني|استشرني|استاذن)|^قاعده ?\d*: |^كن (?:دائما )?(?:مختصرا|"
        r"موجزا|مباشرا|مهذبا|رسميا|دقيقا)|(?:ابق|حافظ).{0,10}الشخصيه|لا (?:تتحدث|تتكلم|"
        r"تقرر) (?:عني|نيابه|بدلا)"
        r"|من الان.{0,30}(?:العربيه|الانجليزيه|الفرنسيه)"
    ),
    nearly=r"^(?:التزم|تقيد) ",
    polite=r"هل (?:يمكنك|تستطيع) (?:دائما|ان تتوقف|التوقف)",
    definite=r"(?:هذا|هذه|ذلك|تلك) ال(?!مشروع|مستودع|محادثه|كود|دردشه|شيفره)|قصيده عن|الدال[هة]",
    once=(
        r"هذه المره|موقتا|حاليا|اليوم(?! فصاعدا)(?<!من اليوم)|غدا|الليله|الثاني\w*|الثالث\w*|"
        r"مره اخرى|التالي\w*|السابق\w*|ادناه|اعلاه|السوال الاول|الاثنين|الثلاثاء|الاربعاء|"
        r"الخميس|الجمعه|السبت"
    ),
    against=(
        r"^(?:انا|هو|هي|هم|نحن(?! نستخدم)|اخي|امي|ابي|صديقي)(?!\w)|الامل|تستسلم|احلام\w*|"
        r"قلبك|تقلق|تنس(?!\w)|(?<!\w)(?:قال|قالت|يقول|كتب) (?!ل)|ابتداء من (?:الاثنين|الغد)"
    ),
    asks=r"^(?:لماذا|كيف|ماذا|متي|من هو|هل)",
)

HINDI = Phrases(
    marks=(
        r"हमेशा|सदा|कभी|अब से|आगे से|आज से|हर बार|भविष्य|आइंदा|मत|न करें|ना करें|मना|"
        r"बचो|बचें|चाहता|चाहती|चाहिए|कृपया|जवाब|उत्तर|इस्तेमाल|उपयोग|लिखो|लिखें|बताओ|"
        r"बताएँ|नियम|केवल|सिर्फ़|सिर्फ|की जगह|के बजाय|बुलाओ|बुलाएँ"
    ),
    lead=(
        r"(?:(?:और|लेकिन|भी|ठीक है|हाँ|कृपया|धन्यवाद|नमस्ते|याद रखो|याद रखें|ध्यान दो|"
        r"ध्यान रहे|महत्वपूर्ण|वैसे)[\s,:!.।–-]*+){1,4}+"
    ),
    standing=(
        r"हमेशा|सदा|सदैव|कभी (?:भी )?(?=.{0,40}(?:मत|नहीं|न |ना ))|अब से|आगे से|आज से|"
        r"हर बार|भविष्य में|आइंदा|डिफ़ॉल्ट|किसी भी हाल|बिना (?:पूछे|मेरी अनुमति)|जब भी|"
        r"सभी मामलों"
    ),
    frame=(
        r"(?:जब|जब भी|अगर) (?:तुम|आप|मैं)|(?:हटाने|बदलने|करने|लिखने|कमिट करने|भेजने) "
        r"(?:से पहले|के बाद)|लिखते समय|हर जवाब|यक़ीन न हो|पता न हो"
    ),
    scope=r"इस (?:प्रोजेक्ट|परियोजना|रिपो|कोडबेस|बातचीत|चैट) में|हमारे प्रोजेक्ट|यहाँ|हर जगह",
    order=(
        r"(?:करो|करें|करना|कीजिए|कीजिएगा|दो|दें|दीजिए|देना|लिखो|लिखें|लिखना|रखो|रखें|"
        r"रखना|बताओ|बताएँ|बताएं|बताना|पूछो|पूछें|पूछना|बोलो|बोलें|जोड़ो|जोड़ें|दिखाओ|"
        r"दिखाएँ|चलाओ|बनाओ|बुलाओ|बुलाएँ|बनो|रहो|रहें|लो|लें|कहो|कहें|जाओ)[।.! ]*$"
    ),
    duty=r"(?:तुम्हें|आपको|तुमको) .{1,60}(?:चाहिए|होगा|है)",
    forbid=(
        r"(?<!\S)मत |न करें|ना करें|न करो|नहीं करना|न दें|न लिखें|मना है|से बचो|से बचें|"
        r"बंद करो|बंद करें|वर्जित|बिना "
    ),
    wish=r"मैं (?:चाहता|चाहती) (?:हूँ|हूं) कि|मुझे .{1,30}(?:पसंद नहीं|नहीं चाहिए)",
    norm=(
        r"^(?:सभी|हर|सारे|प्रत्येक).{1,50}(?:चाहिए|होने चाहिए|होना चाहिए|ज़रूरी|अनिवार्य)|"
        r"होने चाहिए|होना चाहिए"
    ),
    habit=r"हम .{0,30}(?:इस्तेमाल|उपयोग) करते",
    style=(
        r"जवाब|उत्तर|इमोजी|हिंदी में|हिन्दी में|अंग्रेज़ी में (?:जवाब|लिख|बोल)|तकनीकी "
        r"शब्द|शब्दजाल|बुलेट|सेमीकोलन|टैब|टिप्पणी|टिप्पणियाँ|कमेंट|स्पॉइलर|लहज़ा|संक्षेप|"
        r"संक्षिप्त|वेरिएबल|औपचारिक|आप कहकर|किरदार|\d+ (?:शब्द|वाक्य|पंक्ति)\w*"
    ),
    work=(
        r"फ़ाइल|फाइल|फ़ोल्डर|फोल्डर|फ़ंक्शन|क्लास|ब्रांच|लाइब्रेरी|पैकेज|डेटाबेस|कमांड|"
        r"मॉड्यूल|टेस्ट|कोड|कमिट|लिंक"
        r"|कीमत|तारीख|शीर्षक|तालिका|स्रोत|इकाई|मज़ाक|माफ़ी"
    ),
    every=r"^(?:सभी|हर|सारे|प्रत्येक|केवल|सिर्फ़|सिर्फ)|केवल|सिर्फ़",
    contrast=r"की जगह|के बजाय|के बदले|, न कि",
    tell=r"(?:इस्तेमाल|उपयोग|सुझाव|ज़िक्र|दोहराव|प्रयोग) (?:मत|न) ",
    fixed=(
        r"मुझे .{1,25}(?:बुलाओ|बुलाएँ|कहकर|कहो)|से पहले.{0,20}(?:पूछ|बता|अनुमति)|^नियम "
        r"?\d*: |(?:छोटे|संक्षिप्त|संक्षेप में) .{0,10}(?:जवाब|उत्तर)|संक्षेप में (?:लिख|"
        r"बता|जवाब)|किरदार में रह"
    ),
    nearly=r"का पालन कर",
    polite=r"क्या (?:तुम|आप) (?:हमेशा|आगे से)",
    definite=r"(?:^| )(?:यह|ये|वह|इस|उस) (?!प्रोजेक्ट|परियोजना|रिपो|कोडबेस|बातचीत|चैट)|पर एक ",
    once=(
        r"इस बार|फ़िलहाल|अभी(?! से)|आज(?! से)|कल |दूसरा|दूसरी|तीसरा|फिर से|नीचे|ऊपर|अगला|"
        r"पिछला|सोमवार"
    ),
    against=(
        r"^(?:मुझे (?!.{0,40}मत)|मैं(?! चाहत)|मेरा|मेरी|मेरे|वह |वे |हम (?!.{0,30}करते)|उसका|उसने)|"
        r"उम्मीद|हार मत|सपने|दिल |चिंता|भूल|ने कहा"
    ),
    asks=r"क्यों|कैसे|क्या .{0,60}(?:है|हो)[।]?$",
)
