from headwater.simweb.world.languages import Language, labels, lines, topic, words

PORTUGUESE = Language(
    code="pt",
    homes=(("PT", "Europe/Lisbon"), ("BR", "America/Sao_Paulo"), ("MZ", "Africa/Maputo")),
    legacy_charset="iso-8859-1",
    papers=(
        words("O Litoral, A Serra, O Farol, A Ribeira, O Planalto, A Baía, O Estuário, A Planície"),
        words("Diário, Jornal, Notícias, Hoje, Semanário, Digital"),
    ),
    first_names=words("Inês, João, Beatriz, Tiago, Conceição, Rui, Marta, Anselmo, Luísa, Fábio, Teresa, Otávio"),
    last_names=words(
        "Figueiredo, Magalhães, Sequeira, Valadão, Nogueira, Chissano, Brandão, Leitão, Fontoura, Assunção"
    ),
    places=words(
        "Porto Sereno, Vila Franca da Serra, São Brás, Monte Alto, Ribeirão Claro, Enseada, Alagoinha, Penedos"
    ),
    verbs=words("aprovou, rejeitou, apresentou, adiou, elogiou, criticou, analisou, defendeu, anunciou, questionou"),
    whens=words(
        "na segunda-feira, na terça-feira à noite, esta semana, depois de horas, na sexta-feira, no mês passado, "
        "antes das férias de verão, pela segunda vez este ano, de forma inesperada"
    ),
    titles=lines("""
        {actor} {verb} {thing} {when}
        Porque é que {actor} {verb} {thing}
        {place}: {actor} {verb} {thing}
        {number} moradores de {place} assinam petição sobre {thing}
        {person}: «Não vamos desistir, queremos {thing}»
        O que {thing} significa para as famílias de {place}
    """),
    sentences=lines("""
        {actor} {verb} {thing} {when}, segundo um comunicado enviado à nossa redação.
        A decisão surge depois de semanas de discussão em {place}, onde {number} moradores tinham assinado uma carta.
        «Pedimos uma resposta clara e finalmente a temos», disse {person}, que mora perto do mercado velho.
        O custo está calculado em {number} milhões, cerca de {percent} por cento a mais do que o previsto na primavera.
        Em {place} o ambiente foi calmo, embora alguns comerciantes estejam preocupados com o futuro.
        {person}, que acompanha o assunto há anos, fala de um passo prudente na direção certa.
        Ninguém esperava que {actor} mudasse de posição tão depressa.
        Os números mostram que {percent} por cento das famílias já utilizam o serviço todas as semanas.
        «Ainda temos muito trabalho pela frente», explicou {person} aos jornalistas.
        O primeiro relatório será publicado em {year} e qualquer pessoa poderá lê-lo na íntegra.
        Ao mesmo tempo, {actor} {verb} {thing}, o que surpreendeu muitos observadores.
        Falta saber se será suficiente, porque a oposição já pediu uma nova audição.
        Projetos semelhantes em {place} e em {place} demoraram quase {number} meses a mais do que o prometido.
        {actor} não tinha respondido às nossas perguntas quando este artigo foi publicado.
        Segundo os críticos, {thing} custaria muito mais do que indicam os números.
        As obras devem começar antes do fim do ano de {year}, se o tempo e o dinheiro o permitirem.
        Muitos lembram-se de como a última tentativa falhou depois de apenas {number} dias.
        {person} falou de um acordo difícil, que não agrada a ninguém mas que todos podem aceitar.
        Na biblioteca de {place} podem ver-se mapas, desenhos e cartas daquela época.
        A região perdeu {number} empregos desde o inverno, mas continuam a nascer novas empresas.
        Especialistas de {place} mediram o efeito pela primeira vez e encontraram uma subida de {percent} por cento.
        Por enquanto, {actor} prefere esperar pela opinião de uma comissão independente.
        A próxima reunião será em {place} e estará aberta a todas as pessoas que se inscreverem a tempo.
        Em comparação com o ano anterior, o total cresceu {percent} por cento, a maior mudança em dez anos.
        As pessoas idosas de {place}, que mais dependem disso, esperam uma solução rápida.
    """),
    updates=lines("""
        Atualização: {actor} já confirmou os pontos principais e espera uma resposta definitiva em {year}.
        Este artigo foi alterado depois de {person}, de {place}, ter corrigido um dos números.
        Entretanto, {actor} {verb} {thing}, soube a nossa redação.
    """),
    remarks=lines("""
        Até que enfim alguém o diz.
        Eu estava lá e havia muito mais barulho.
        E quem vai pagar tudo isso?
        Muito bom artigo, obrigado.
    """),
    topics=(
        topic(
            "Cidade",
            "câmara, porto, transportes, habitação, orçamento, ponte",
            """
            a câmara municipal
            o gabinete da prefeita
            a autoridade portuária
            um grupo de moradores
            a comissão de habitação
            o departamento de transportes
            """,
            """
            o novo orçamento do porto
            a linha de elétrico
            o encerramento da ponte velha
            o mercado noturno
            a subida das tarifas
            o plano de ciclovias
            a venda da antiga alfândega
            a renovação das escolas
            """,
        ),
        topic(
            "Ciência",
            "investigação, clima, oceano, medição, universidade, aves",
            """
            a equipa de investigação
            o serviço de meteorologia
            um grupo de biólogos marinhos
            o laboratório da universidade
            o observatório nacional
            a expedição polar
            """,
            """
            o maior estudo da costa
            um sensor barato para o ar limpo
            a teoria da corrente quente
            o mapa do vale submarino
            uma experiência com jardins flutuantes
            o modelo das próximas tempestades
            uma contagem de aves migratórias
            a procura de um cometa perdido
            """,
        ),
        topic(
            "Economia",
            "comércio, salários, empresa, exportação, banco, sindicato",
            """
            a companhia de navegação
            a câmara de comércio
            um fabricante de turbinas
            a caixa económica
            o sindicato dos estivadores
            a cervejaria da família
            """,
            """
            a fusão com a concorrente
            um aumento dos salários
            a mudança para um armazém maior
            a exportação de madeira
            o fim das faturas em papel
            um empréstimo para jovens empresários
            o balanço do trimestre
            o contrato dos doze guindastes
            """,
        ),
        topic(
            "Cultura",
            "música, teatro, cinema, festival, museu, livros",
            """
            o teatro municipal
            a diretora do festival
            uma jovem orquestra de jazz
            o museu da navegação
            a editora da coleção
            o júri do prémio literário
            """,
            """
            a noite de abertura do festival
            uma exposição de pintores esquecidos
            o regresso do cinema ao ar livre
            um romance sobre faroleiros
            a restauração do órgão
            uma série de concertos gratuitos
            a tradução de velhas canções do mar
            um filme sem uma única palavra
            """,
        ),
    ),
    labels=labels("""
        home: Início
        latest: Últimas notícias
        about: Quem somos
        contact: Contacto
        privacy: Privacidade
        login: Entrar
        search: Pesquisar
        members: Assinantes
        by: Por
        and: e
        published: Publicado
        updated: Atualizado
        related: Também pode interessar
        popular: Mais lidas
        comments: Comentários
        share: Partilhar este artigo
        cookies: Utilizamos cookies para que esta página funcione e para contar as visitas.
        accept: Aceitar tudo
        newsletter: O nosso boletim, todas as manhãs
        subscribe: Assinar
        next: Página seguinte
        previous: Página anterior
        more: Continuar a ler
        rights: Todos os direitos reservados
        advert: Publicidade
        about_text: Somos uma pequena redação independente. Escreva-nos, lemos todas as cartas.
        consent: Antes de continuar, nós e os nossos 312 parceiros pedimos o seu consentimento para guardar cookies.
        consent_use: Com o seu consentimento medimos como as nossas páginas são lidas e escolhemos a publicidade.
        consent_choice: Pode recusar ou mudar de ideias quando quiser na nossa página de privacidade.
        missing: Página não encontrada
        missing_text: A página que pediu não existe, ou está noutro endereço desde que arrumámos a casa.
        missing_advice: Verifique o endereço, use a pesquisa ou leia o que os outros estão a ler neste momento.
        paywall: Este artigo é para assinantes. Já leu todos os artigos gratuitos deste mês.
        paywall_offer: Assine agora e leia tudo durante quatro semanas, em qualquer aparelho e sem compromisso.
        live: Em direto
    """),
)
