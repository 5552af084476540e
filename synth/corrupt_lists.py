"""Words that tell what kind of thing a name names: given names, places, heads of names, titles."""

from __future__ import annotations

from openreward.synth.corrupt_words import word_set

MEN = word_set(
    "Aaron Abraham Adam Akira Alan Albert Alec Alexander Alfred Allen Andre Andrew Andy "
    "Anthony Antonio Arnold Arthur Barry Ben Benjamin Bernard Bill Billy Bob Boris Brad Brian "
    "Bruce Bryan Carl Carlos Charles Charlie Chris Christopher Clint Colin Craig Dan "
    "Daniel Dave David Dennis Denis Diego Don Donald Douglas Dustin Dwight Eddie Edgar "
    "Edmund Edward Edwin Elijah Emil Enrico Eric Erik Ernest Ernst Eugene Fernando Francis "
    "Francisco Frank Franklin Franz Fred Frederick Friedrich Fritz Gary Gene George Gerald "
    "Gerard Giovanni Giuseppe Glenn Gordon Graham Greg Gregory Hans Harold Harrison Harry "
    "Heinrich Henri Henry Herbert Herman Howard Hugh Hugo Ian Igor Isaac Ivan Jack Jackie Jacob "
    "Jacques Jake James Jan Jason Jean Jeff Jeffrey Jeremy Jerry Jim Jimmy Joe Joel Johann John "
    "Johnny Jon Jonathan Jorge Jose José Joseph Josh Joshua Juan Jules Karl Keith Ken Kenneth "
    "Kevin Kurt Larry Lars Laurence Lawrence Leo Leon Leonard Leonardo Lewis Liam Lionel Lou "
    "Louis Luc Lucas Luigi Luis Luke Marc Marcel Marco Mario Mark Martin Matt Matthew Maurice "
    "Max Mel Michael Michel Mick Miguel Mike Nathan Neil Nelson Nicholas Nick Nicolas Niels "
    "Nikolai Noel Norman Oliver Orson Oscar Otto Owen Pablo Patrick Paul Pedro Pete Peter Phil "
    "Philip Pierre Quentin Quincy Ralph Randy Ray Raymond René Ricardo Richard Rick Ridley Rob "
    "Robert Roberto Robin Rod Roger Ron Ronald Ross Roy Rudolf Russell Ryan Sam Samuel "
    "Scott Sean Sebastian Sergei Sergio Seth Sidney Sigmund Simon Stan Stanley Stefan Stephen "
    "Steve Steven Stuart Sylvester Ted Terry Theodore Thomas Tim Timothy Todd Tom Tommy Tony "
    "Truman Victor Vincent Vladimir Walt Walter Warren Wayne Werner Wilhelm William Willem "
    "Winston Wolfgang Woody Zack"
)
WOMEN = word_set(
    "Ada Agatha Agnes Alexandra Alice Alicia Alison Amanda Amelia Amy Andrea Angela Angelina "
    "Anita Ann Anna Anne Annie Audrey Ava Barbara Beatrice Bette Betty Billie Brenda Brigitte "
    "Britney Carol Caroline Carrie Catherine Cate Charlotte Cher Christina Christine Claire "
    "Clara Claudia Cynthia Daisy Deborah Debra Diana Diane Dolly Donna Doris Dorothy Drew Edith "
    "Eleanor Elena Elizabeth Ella Ellen Emily Emma Erin Eva Eve Frances Frida "
    "Geena Georgia Gina Ginger Gloria Greta Gwyneth Halle Hannah Harriet Heather Hedy "
    "Helen Helena Hilary Hillary Ida Ingrid Irene Isabel Isabella Jacqueline Jane Janet Janis "
    "Jennifer Jessica Jill Joan Joanna Jodie Josephine Judith Judy Julia Julianne Julie "
    "Karen Kate Katharine Katherine Kathleen Kathryn Katy Keira Kim Lana Laura Lauren Lena "
    "Leslie Lily Linda Lisa Liza Louise Lucille Lucy Madeleine Margaret Margot Maria Marie "
    "Marilyn Marlene Martha Mary Maya Meg Melissa Meryl Michelle Mildred Miriam Monica Nancy "
    "Naomi Natalie Nicole Nina Nora Norma Olivia Oprah Pamela Patricia Penelope Rachel "
    "Rebecca Renée Rita Rosa Rosemary Ruth Sally Samantha Sandra Sara Sarah Scarlett "
    "Sharon Sheila Shirley Sophia Sophie Stella Susan Suzanne Sylvia Tina Uma Ursula "
    "Vanessa Vera Vivian Whitney Whoopi Winona Yoko"
)
ROLES = word_set(
    "actor actress architect artist astronomer author biologist businessman chemist "
    "choreographer comedian composer conductor critic designer director economist engineer "
    "explorer filmmaker guitarist historian inventor journalist mathematician novelist painter "
    "philosopher physicist pianist playwright poet politician producer professor psychologist "
    "rapper scientist screenwriter sculptor singer songwriter starring writer"
)
TITLES = word_set(
    "President Sir Dr Prof Professor King Queen Pope Saint St General Captain Lord Lady Mr Mrs Ms "
    "Prince Princess Emperor Empress Chancellor Senator Colonel Admiral"
)
PARTICLES = word_set("de da di del van von der la le bin al du")
_BY_KIND = {
    "country of Europe": "Albania|Austria|Belarus|Belgium|Bulgaria|Croatia|Cyprus|Denmark|"
    "England|Estonia|Finland|France|Germany|Greece|Hungary|Iceland|Ireland|Italy|Latvia|"
    "Lithuania|Luxembourg|Malta|Moldova|Netherlands|Norway|Poland|Portugal|Prussia|Romania|"
    "Russia|Scotland|Serbia|Slovakia|Slovenia|Soviet Union|Spain|Sweden|Switzerland|Ukraine|"
    "United Kingdom|Wales",
    "country of America": "Argentina|Bolivia|Brazil|Canada|Chile|Colombia|Costa Rica|Cuba|"
    "Ecuador|Guatemala|Haiti|Honduras|Jamaica|Mexico|Nicaragua|Panama|Paraguay|Peru|Uruguay|"
    "Venezuela|United States",
    "country of Asia": "Afghanistan|Australia|Bangladesh|Cambodia|China|India|Indonesia|Japan|"
    "Kazakhstan|Laos|Malaysia|Mongolia|Myanmar|Nepal|New Zealand|North Korea|Pakistan|"
    "Philippines|Singapore|South Korea|Sri Lanka|Taiwan|Thailand|Uzbekistan|Vietnam",
    "country of the Middle East": "Algeria|Armenia|Azerbaijan|Bahrain|Egypt|Iran|Iraq|Israel|"
    "Kuwait|Lebanon|Libya|Morocco|Oman|Qatar|Saudi Arabia|Syria|Tunisia|United Arab Emirates|"
    "Yemen",
    "country of Africa": "Angola|Botswana|Cameroon|Chad|Eritrea|Ethiopia|Ghana|Ivory Coast|"
    "Kenya|Liberia|Malawi|Mali|Mozambique|Namibia|Niger|Nigeria|Rwanda|Senegal|Somalia|"
    "South Africa|Sudan|Tanzania|Uganda|Zambia|Zimbabwe",
    "state": "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|"
    "Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|"
    "New Mexico|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|"
    "South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|West Virginia|Wisconsin|Wyoming",
    "city of Europe": "Amsterdam|Antwerp|Athens|Barcelona|Basel|Belgrade|Berlin|Bern|Birmingham|"
    "Bologna|Bonn|Bordeaux|Bristol|Brussels|Bucharest|Budapest|Cambridge|Cologne|Copenhagen|"
    "Dresden|Dublin|Düsseldorf|Edinburgh|Florence|Frankfurt|Geneva|Genoa|Glasgow|Hamburg|"
    "Helsinki|Leeds|Leipzig|Lisbon|Liverpool|London|Lyon|Madrid|Manchester|Marseille|Milan|"
    "Moscow|Munich|Naples|Oslo|Oxford|Paris|Prague|Rome|Rotterdam|Saint Petersburg|Seville|"
    "Stockholm|Turin|Venice|Vienna|Warsaw|Zagreb|Zurich",
    "city of America": "Atlanta|Baltimore|Boston|Buenos Aires|Chicago|Cleveland|Dallas|Denver|"
    "Detroit|Havana|Houston|Lima|Los Angeles|Memphis|Mexico City|Miami|Montreal|Nashville|"
    "New Orleans|New York City|Ottawa|Philadelphia|Pittsburgh|Rio de Janeiro|San Diego|"
    "San Francisco|Santiago|Seattle|Toronto|Vancouver",
    "city of Asia": "Auckland|Bangkok|Beijing|Calcutta|Chennai|Delhi|Hanoi|Hong Kong|Hyderabad|"
    "Jakarta|Karachi|Kolkata|Kyoto|Lahore|Manila|Melbourne|Mumbai|New Delhi|Osaka|Seoul|"
    "Shanghai|Sydney|Tokyo|Wellington",
    "city of Africa or the Middle East": "Accra|Ankara|Baghdad|Beirut|Cairo|Cape Town|Damascus|"
    "Istanbul|Jerusalem|Johannesburg|Lagos|Nairobi|Tehran",
    "continent": "Africa|Asia|Europe|North America|South America|Oceania",
}
PLACES = {name: kind for kind, names in _BY_KIND.items() for name in names.split("|")}
"""Well-known places by kind and part of the world: those of one kind stand in for each other."""
WITH_THE = word_set(
    "Netherlands|Philippines|Soviet Union|United Arab Emirates|United Kingdom|United States", "|"
)
_NATIONALITIES = {
    "Europe": "Austrian|Belgian|British|Bulgarian|Croatian|Czech|Danish|Dutch|English|Finnish|"
    "French|German|Greek|Hungarian|Icelandic|Irish|Italian|Norwegian|Polish|Portuguese|Romanian|"
    "Russian|Scottish|Serbian|Spanish|Swedish|Swiss|Ukrainian|Welsh",
    "new worlds": "American|Argentine|Australian|Brazilian|Canadian|Chilean|Colombian|Cuban|"
    "Jamaican|Mexican|Peruvian",
    "Asia": "Chinese|Indian|Indonesian|Japanese|Korean|Pakistani|Thai|Vietnamese",
    "Africa and the Middle East": "Egyptian|Iranian|Israeli|Kenyan|Nigerian|Turkish",
}
NATIONALITIES = {
    name: where for where, names in _NATIONALITIES.items() for name in names.split("|")
}
ORGANISATIONS = word_set(
    "University Institute College Company Corporation Museum Party Association League Committee "
    "Records Studios Club Hospital Agency Foundation Bank Orchestra Academy Society Pictures "
    "Entertainment Airlines Council Ministry Department Laboratory Television Union Commission "
    "Theatre Gallery"
)
LANDMARKS = word_set(
    "River Lake Mount Mountain Mountains Island Islands Sea Ocean County Province Desert Valley "
    "Bay Peninsula Strait Gulf Bridge Castle Palace Cathedral"
)
BENCHMARK_ENDS = ("Bench", "QA", "Eval", "Arena", "Instruct", "Hard")
LANGUAGE_MODELS = (
    "GPT-", "Llama", "LLaMA", "Qwen", "Claude", "Gemini", "DeepSeek", "Mistral", "Phi-", "Gemma",
)  # fmt: skip
VISION_MODELS = ("ResNet", "ViT-", "EfficientNet", "VGG", "DenseNet", "MobileNet", "ConvNeXt")
