"""Words of many languages that dates and bylines are made of. Articles, feeds, listings and vacancies read them here.

A new language is a line in each table. Words are compared as `fold` writes them.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

# January first. A second line of a language has its short forms, or what is said beside the first.
_MONTHS = """
en january february march april may june july august september october november december
en jan feb mar apr may jun jul aug sept oct nov dec
en jan feb mar apr may jun jul aug sep oct nov dec
de januar februar märz april mai juni juli august september oktober november dezember
de jänner feber maerz april mai juni juli august september okt november dez
de jan feb mrz apr mai jun jul aug sept okt nov dez
fr janvier février mars avril mai juin juillet août septembre octobre novembre décembre
fr janv fevr mars avr mai juin juil aout sept oct nov déc
es enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
es ene feb mar abr may jun jul ago setiembre oct nov dic
pt janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
pt jan fev mar abr mai jun jul ago set out nov dez
it gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
it gen feb mar apr mag giu lug ago set ott nov dic
nl januari februari maart april mei juni juli augustus september oktober november december
nl jan feb mrt apr mei jun jul aug sep okt nov dec
da januar februar marts april maj juni juli august september oktober november december
no januar februar mars april mai juni juli august september oktober november desember
no jan feb mar apr mai jun jul aug sep okt nov des
sv januari februari mars april maj juni juli augusti september oktober november december
fi tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu
fi tammik helmik maalisk huhtik toukok kesäk heinäk elok syysk lokak marrask joulukuuta
pl stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
pl styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień
pl sty lut mar kwi maj cze lip sie wrz paź lis gru
cs ledna února března dubna května června července srpna září října listopadu prosince
cs leden únor březen duben květen červen červenec srpen září říjen listopad prosinec
tr ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
tr oca şub mar nis may haz tem ağu eyl eki kas ara
id januari pebruari maret april mei juni juli agustus september oktober november desember
id jan feb mar apr mei jun jul agt sep okt nov des
hu január február március április május június július augusztus szeptember október november december
ro ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
ru января февраля марта апреля мая июня июля августа сентября октября ноября декабря
ru январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
ru янв фев мар апр май июн июл авг сен окт ноя дек
uk січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
uk січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень
el ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
el ιαν φεβ μαρ απρ μαϊ ιουν ιουλ αυγ σεπ οκτ νοε δεκ
ar يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
ar يناير فبراير مارس ابريل مايو يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر
sk januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra
sl januarja februarja marca aprila maja junija julija avgusta septembra oktobra novembra decembra
sr januar februar mart april maj jun jul avgust septembar oktobar novembar decembar
sr јануар фебруар март април мај јун јул август септембар октобар новембар децембар
bg януари февруари март април май юни юли август септември октомври ноември декември
ca gener febrer març abril maig juny juliol agost setembre octubre novembre desembre
et jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember
lt sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio gruodžio
lv janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris decembris
is janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember
af januarie februarie maart april mei junie julie augustus september oktober november desember
ms januari februari mac april mei jun julai ogos september oktober november disember
sw januari februari machi aprili mei juni julai agosti septemba oktoba novemba desemba
ka იანვარი თებერვალი მარტი აპრილი მაისი ივნისი ივლისი აგვისტო სექტემბერი ოქტომბერი ნოემბერი დეკემბერი
he ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר
"""
# Monday first.
_WEEKDAYS = """
en monday tuesday wednesday thursday friday saturday sunday
en mon tues wed thurs fri sat sun
de montag dienstag mittwoch donnerstag freitag samstag sonntag
de montag dienstag mittwoch donnerstag freitag sonnabend sonntag
fr lundi mardi mercredi jeudi vendredi samedi dimanche
es lunes martes miércoles jueves viernes sábado domingo
pt segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo
it lunedì martedì mercoledì giovedì venerdì sabato domenica
nl maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
da mandag tirsdag onsdag torsdag fredag lørdag søndag
sv måndag tisdag onsdag torsdag fredag lördag söndag
fi maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai
pl poniedziałek wtorek środa czwartek piątek sobota niedziela
cs pondělí úterý středa čtvrtek pátek sobota neděle
tr pazartesi salı çarşamba perşembe cuma cumartesi pazar
id senin selasa rabu kamis jumat sabtu minggu
hu hétfő kedd szerda csütörtök péntek szombat vasárnap
ro luni marți miercuri joi vineri sâmbătă duminică
ru понедельник вторник среда четверг пятница суббота воскресенье
uk понеділок вівторок середа четвер п'ятниця субота неділя
el δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή
ar الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد
"""
# Today and yesterday.
_DAYS = """
en today yesterday
de heute gestern
fr aujourd'hui hier
es hoy ayer
pt hoje ontem
it oggi ieri
nl vandaag gisteren
da dag går
sv idag igår
tr bugün dün
ru сегодня вчера
pl dzisiaj wczoraj
pl dziś wczoraj
cs dnes včera
fi tänään eilen
hu ma tegnap
ro azi ieri
uk сьогодні вчора
el σήμερα χθες
ar اليوم أمس
ja 今日 昨日
ko 오늘 어제
zh 今天 昨天
"""
# Minute, hour, day and week, each as it is said of one and of several; then what says that they are past.
_UNITS = """
en minute hour day week ago
en minutes hours days weeks ago
en mins hrs days wks ago
en min hr days wk ago
de minute stunde tag woche vor
de minuten stunden tagen wochen vor
fr minute heure jour semaine a
fr minutes heures jours semaines a
es minuto hora día semana hace
es minutos horas días semanas hace
pt minuto hora dia semana há
pt minutos horas dias semanas atrás
it minuto ora giorno settimana fa
it minuti ore giorni settimane fa
nl minuut uur dag week geleden
nl minuten uren dagen weken geleden
da minut time dag uge siden
da minutter timer dage uger siden
no minutt time dag uke siden
no minutter timer dager uker siden
sv minut timme dag vecka sedan
sv minuter timmar dagar veckor sedan
tr dakika saat gün hafta önce
ru минуту час день неделю назад
ru минуты часа дня недели назад
ru минут часов дней недель назад
pl minutę godzinę dzień tydzień temu
pl minuty godziny dni tygodnie temu
pl minut godzin dni tygodni temu
cs minutou hodinou dnem týdnem před
cs minutami hodinami dny týdny před
fi minuutti tunti päivä viikko sitten
fi minuuttia tuntia päivää viikkoa sitten
id menit jam hari minggu lalu
hu perccel órával nappal héttel ezelőtt
ro minut oră zi săptămână acum
ro minute ore zile săptămâni acum
uk хвилину годину день тиждень тому
uk хвилини години дні тижні тому
uk хвилин годин днів тижнів тому
el λεπτό ώρα μέρα εβδομάδα πριν
el λεπτά ώρες μέρες εβδομάδες πριν
ar دقيقة ساعة يوم أسبوع منذ
ar دقائق ساعات أيام أسابيع منذ
ko 분 시간 일 주 전
ja 分 時間 日 週間 前
zh 分钟 小时 天 周 前
zh 分鐘 小時 天 週 前
"""
_SECONDS_OF_UNITS = (60, 3_600, 86_400, 604_800)
# What stands before a name that wrote something.
_BY = """
en by author words
de von autor autorin text interview
fr par auteur texte
es por autor autora texto
pt por autor texto
it di autore testo
nl door auteur tekst
da af tekst
sv av text
pl autor przez
id oleh penulis
tr yazan yazar haber
ru автор авторы текст от
uk автор автори
ar بقلم
cs autor autorka
hu szerző írta
fi kirjoittaja teksti
el από
"""
# What may stand before such a word: "veröffentlicht von".
_BEFORE_BY = """
en posted published written reported story article analysis review opinion commentary words compiled
de veröffentlicht erstellt eingestellt geschrieben verfasst artikel beitrag alles mehr interview rezept kommentar
fr publié écrit rédigé analyse propos recueillis
es publicado escrito redactado
it scritto pubblicato
nl geschreven
da skrevet
sv publicerad skriven skrivet
pl napisane
pt publicado escrito
id ditulis
ro scris
ru написано опубликовано
"""
# What says that the time behind it is that of the last change.
_CHANGED = """
en updated modified edited corrected
de aktualisiert geändert update
fr modifié actualisé jour
es actualizado modificado actualización
pt atualizado modificado atualização
it aggiornato modificato aggiornamento
nl bijgewerkt gewijzigd update
da opdateret ændret
no oppdatert endret
sv uppdaterad ändrad
fi päivitetty
pl aktualizacja zaktualizowano
cs aktualizováno
tr güncelleme güncellendi
id diperbarui
hu frissítve
ro actualizat
ru обновлено изменено
uk оновлено змінено
el ενημερώθηκε
ar تحديث
"""
# What says that the name behind it made a picture.
_PICTURED_BY = """
en photo photos image images picture pictures
de foto fotos bild bilder
pl zdjęcie
ru фото
ar صورة
"""
# What says that the name behind it is that of an editor.
_EDITED_BY = """
en editor
de redigiert
es edición
pt edição
da redigeret
sv redigering
pl redakcja opracowanie
tr editör
id editor redaktur penyunting
ru редактор
uk редактор
"""
# What stands between the last two names of several.
_AND = """
en and And AND
de und
fr et
es y
pt e
nl en
da og
sv och
fi ja
pl i oraz
cs a
tr ve
id dan
ro și
ru и
uk та
el και
ar و
"""
# The first or the last word of a role, in the place of a name or behind it.
_ROLES = """
en reporter reporters editor editors editorial correspondent correspondents journalist journalists writer writers
en columnist contributor contributors staff newsroom desk photographer producer analyst admin administrator
de redaktion onlineredaktion redakteur redakteurin redaktor redaktorin chefredakteur chefredakteurin fotograf
de korrespondent korrespondentin volontär volontärin journalistin autorenteam reporterin politikredaktion
fr rédaction rédacteur rédactrice journaliste correspondant correspondante envoyé envoyée
es redacción redactor redactora periodista corresponsal redactores corresponsales colaborador colaboradora
es editor editora
pt redação repórter jornalista correspondente redação editoria colaborador colaboradora enviado
it redazione redattore redattrice giornalista corrispondente inviato
nl redactie redacteur verslaggever
da redaktionen journalister korrespondenten
fi toimitus toimittaja
pl redakcja dziennikarz dziennikarka
cs redakce redaktorka
tr muhabir muhabiri editör editörü gazeteci
id jurnalis wartawan penulis redaksi
hu szerkesztő újságíró
ru редакция редактор корреспондент журналист обозреватель
uk редакція кореспондент журналіст
ar مراسل تحرير
sv redaktionen reportrar journalist reporter
no journalist redaksjon redaksjonen nyhetsleder
el συντακτική δημοσιογράφος σύνταξη
ro redacția redactor jurnalist
"""
# What a line begins with that leads to other stories; between bars, for they are of several words.
_READ_MORE = """
en read more|read also|also read|read next|see also|see more|related|don't miss|more on this|you may also like|must read
de lesen sie auch|lesen sie dazu|lies auch|auch lesen|auch interessant|mehr zum thema|mehr dazu|weitere artikel|lesetipp
fr lire aussi|à lire|voir aussi|lire également|sur le même sujet
es lea también|lee también|lea además|le puede interesar|te puede interesar|ver también
pt leia também|leia mais|veja também|saiba mais
it leggi anche|leggi pure|vedi anche|ti potrebbe interessare
nl lees ook|lees meer|zie ook
da læs også|læs mere
no les også|les mer
sv läs också|läs även|läs mer|se också
fi lue myös|katso myös
pl czytaj więcej|czytaj też|czytaj także|zobacz też|zobacz także|przeczytaj
cs čtěte také|čtěte více|přečtěte si
tr ilgili haberler|bunlar da ilginizi çekebilir
id baca juga
hu olvassa el|kapcsolódó cikk
ro citește și|vezi și
ru читайте также|читать также|смотрите также|по теме
uk читайте також|дивіться також
el διαβάστε επίσης|δείτε επίσης
ar اقرأ أيضا|إقرأ أيضا
ja 関連記事|あわせて読みたい
ko 관련기사|관련 기사
zh 相关阅读|延伸閱讀|延伸阅读
"""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d{1,4}")
_MOST_WORDS, _MOST_NUMBER = 8, 1_000


def fold(text: str) -> str:
    """Text as it is compared: case and accents gone."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(character for character in apart if not unicodedata.combining(character))
    # Korean came apart with the accents.
    return unicodedata.normalize("NFC", plain).replace("ı", "i")


def _lines(table: str) -> Iterator[list[str]]:
    """The words of each line, without the code of its language."""
    return (line.split()[1:] for line in table.strip().splitlines())


def _words(table: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for line in _lines(table) for word in line))


def _places(table: str, first: int = 0) -> dict[str, int]:
    return {fold(word): at for line in _lines(table) for at, word in enumerate(line, first)}


BY, BEFORE_BY, CHANGED, PICTURED_BY, AND, ROLES = map(_words, (_BY, _BEFORE_BY, _CHANGED, _PICTURED_BY, _AND, _ROLES))
EDITED_BY = tuple(map(fold, _words(_EDITED_BY)))
READ_MORE = tuple(said for line in _READ_MORE.strip().splitlines() for said in line.partition(" ")[2].split("|"))
# As HTTP and RFC 822 write them, in small letters.
SHORT_MONTHS = tuple(name[:3] for name in next(_lines(_MONTHS)))
_MONTH_OF, _WEEKDAY_OF, _DAYS_AGO = _places(_MONTHS, 1), _places(_WEEKDAYS), _places(_DAYS)
_SECONDS_OF = {
    fold(word): seconds for line in _lines(_UNITS) for word, seconds in zip(line[:-1], _SECONDS_OF_UNITS, strict=True)
}
_AGO = frozenset(fold(line[-1]) for line in _lines(_UNITS))
# Written without spaces: the word that says that they are past stands at the end of the unit.
_JOINED_AGO = "前"


def month_of(name: str) -> int:
    """From 1; 0 for what is no month."""
    return _MONTH_OF.get(fold(name), 0)


def weekday_of(name: str) -> int | None:
    """Monday is 0."""
    return _WEEKDAY_OF.get(fold(name))


def days_ago(text: str) -> int | None:
    """0 for "today", 1 for "Gestern, 14:30"; None where the first words say neither."""
    said = (_DAYS_AGO.get(word) for word in _WORD.findall(fold(text[:40]))[:2])
    return next((days for days in said if days is not None), None)


def seconds_ago(text: str) -> int | None:
    """How long "3 hours ago", "vor 5 Minuten" or "il y a 2 jours" is; None for anything else."""
    words = _WORD.findall(fold(text[:60]).replace(_JOINED_AGO, f" {_JOINED_AGO} "))
    if len(words) > _MOST_WORDS or not _AGO.intersection(words):
        return None
    for number, unit in pairwise(words):
        if number.isdecimal() and unit in _SECONDS_OF and int(number) <= _MOST_NUMBER:
            return int(number) * _SECONDS_OF[unit]
    return None
