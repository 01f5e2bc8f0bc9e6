import type { WriteDocument } from './legal-document.ts'

export const termsOfUse20261123: WriteDocument = ({ name, contactEmail }) => ({
  title: 'Termos de uso',
  sections: [
    {
      title: '1. Quem oferece o serviço e quem pode usar',
      paragraphs: [
        `O serviço é oferecido por ${name}, identificada no fim desta página. Ele dá acesso a modelos de inteligência artificial de terceiros, por API e por um painel, mediante saldo pré-pago em reais.`,
        'Só pode criar uma conta quem tem 18 anos ou mais, ou quem contrata em nome de uma empresa. O serviço não é dirigido a crianças e adolescentes (Lei 15.211/2025, ECA Digital). Quem integra o serviço a um produto acessível a menores responde pelos controles que a lei exige nesse produto.',
      ],
    },
    {
      title: '2. Saldo e preços',
      paragraphs: [
        'Você paga antes e usa o saldo. Não há mensalidade, o saldo pago não expira e, sem saldo, as chamadas são recusadas.',
        'Cada chamada custa o preço do modelo em dólares, vezes a taxa de câmbio PTAX de venda em vigor, vezes o multiplicador do modelo. Preços, taxas e multiplicadores são públicos no catálogo, e cada cobrança mostra a própria conta. Estimativas em reais mudam com o câmbio.',
        'Antes da chamada, o custo máximo é reservado no saldo; depois, só o custo real é cobrado e o resto é liberado. Um modelo que informa mais consumo do que o limite pode deixar o saldo negativo.',
        'Uma chamada que falha antes da resposta não é cobrada. Se você interrompe uma resposta que já começou, ou um modelo que está raciocinando, paga o que o modelo gerou; se interrompe antes disso, paga o texto enviado.',
        'Um aumento de multiplicador é avisado com antecedência, por e-mail, a quem usou o modelo nos últimos 90 dias.',
      ],
    },
    {
      title: '3. Arrependimento e reembolso',
      paragraphs: [
        'Em até 7 dias de cada recarga você pode desistir dela, no próprio painel e sem custo: o que não foi gasto volta pela mesma forma de pagamento (Código de Defesa do Consumidor, art. 49).',
        'Depois dos 7 dias, o que você pagou e não gastou pode ser reembolsado a pedido, com o valor mínimo mostrado no painel. Crédito promocional não é reembolsado.',
      ],
    },
    {
      title: '4. Suas chaves e seu uso',
      paragraphs: [
        'Quem tem uma chave sua gasta o seu saldo: guarde as chaves em segredo e revogue as que vazarem. Limites por chave, por equipe e por endereço ajudam a conter perdas.',
        'É proibido usar o serviço para violar a lei ou direitos de outras pessoas, para produzir material de abuso sexual infantil, para atacar sistemas, ou contra as regras de uso do provedor do modelo escolhido. A conta pode ser suspensa nesses casos e no de pagamento contestado; o saldo pago e não gasto continua sendo seu.',
        'As respostas são geradas por modelos e podem conter erros. Confira-as antes de decidir algo com base nelas.',
      ],
    },
    {
      title: '5. Disponibilidade e mudanças',
      paragraphs: [
        'O serviço depende de provedores de modelos e pode ficar indisponível; incidentes são publicados na página de status. Modelos podem sair do catálogo quando o provedor os encerra.',
        'Quando estes termos mudam, a versão nova é publicada aqui e pedimos o seu aceite no painel. As versões anteriores continuam disponíveis pela data.',
      ],
    },
    {
      title: '6. Contato, lei e foro',
      paragraphs: [
        `Dúvidas e reclamações: ${contactEmail}. Respondemos em até cinco dias.`,
        'Vale a lei brasileira. O consumidor pode demandar no foro do seu domicílio.',
      ],
    },
  ],
})
