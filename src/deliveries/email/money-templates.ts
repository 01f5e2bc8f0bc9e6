/** Mails on top-ups, the balance and refunds. */
import { language, t } from '../../platform/lib/language.ts'
import type { DataReader, Fact, Template } from './mail-content.ts'

const METHODS: Readonly<Record<string, string>> = { pix: 'Pix', card: 'cartão', boleto: 'boleto' }

function methodOf(data: DataReader): string | undefined {
  const method = METHODS[data.text('method') ?? '']
  return method && t(method)
}

function amount(data: DataReader): string {
  return data.brl('amount_brl') ?? t('o valor pedido')
}

const HOW_TO_STOP =
  'Para não receber este aviso por e-mail, desligue-o no painel, em Perfil, Preferências.'

export const MONEY_TEMPLATES = {
  recarga_pendente: (data) => {
    const pix = data.code('pix_payload')
    const line = data.code('boleto_line')
    const code = pix ?? line
    return {
      subject: t`Recarga de ${amount(data)} aguarda o pagamento`,
      paragraphs: [
        'Sua recarga foi criada. O saldo entra assim que o pagamento for confirmado.',
        ...(code === undefined ? [t`O código para pagar está em ${whereIs(data)}.`] : []),
      ],
      facts: [
        ['Valor', data.brl('amount_brl')],
        ['Forma de pagamento', methodOf(data)],
        ['Pague até', data.time('expires_at')],
        ['Recarga', data.text('id')],
      ],
      copied:
        code === undefined
          ? undefined
          : { label: pix ? 'Pix copia e cola' : 'Linha digitável do boleto', text: code },
      closing: ['Se você não pediu esta recarga, não pague: sem pagamento, ela expira sozinha.'],
    }
  },
  recarga_confirmada: (data) => ({
    subject: t`Recarga de ${amount(data)} confirmada`,
    paragraphs: ['Recebemos o seu pagamento, e o saldo já pode ser usado. Guarde este recibo.'],
    facts: [
      ['Valor pago', data.brl('amount_brl')],
      ['Forma de pagamento', methodOf(data)],
      ['Data', data.time('paid_at') ?? data.time('at')],
      ['Saldo', data.brl('balance_brl')],
      ['Recarga', data.text('id')],
    ],
    page: { label: 'Ver a recarga e o recibo', path: '/recargas' },
    closing: [
      'Você pode desistir em até 7 dias: o que não foi gasto desta recarga volta por inteiro (CDC, art. 49).',
    ],
  }),
  recarga_expirada: (data) => ({
    subject: t`Recarga de ${amount(data)} expirou`,
    paragraphs: [
      'O pagamento não chegou a tempo, e a recarga expirou. Nada foi cobrado.',
      'Não pague mais por este código. Se ainda quiser o saldo, crie outra recarga.',
    ],
    facts: [
      ['Valor', data.brl('amount_brl')],
      ['Recarga', data.text('id')],
    ],
  }),
  cartao_recusado: (data) => ({
    subject: 'Pagamento com cartão recusado',
    paragraphs: [
      'O pagamento da sua recarga não foi aceito, e nada foi cobrado.',
      'Confira os dados com o emissor do cartão, ou pague por Pix.',
    ],
    facts: [
      ['Valor', data.brl('amount_brl')],
      ['Cartão', endingOf(data)],
      ['Recarga', data.text('id')],
    ],
  }),
  recarga_automatica_desativada: (data) => ({
    subject: 'Sua recarga automática foi desativada',
    paragraphs: [
      'O cartão foi recusado várias vezes seguidas, e a recarga automática foi desativada. Nada foi cobrado nessas tentativas.',
      'Para não ficar sem saldo, recarregue por Pix, ou escolha outro cartão e ative a recarga automática de novo.',
    ],
    facts: [
      ['Cartão', endingOf(data)],
      ['Recusas seguidas', data.count('failures')],
      ['Valor da recarga', data.brl('amount_brl')],
      ['Quando o saldo é menor que', data.brl('threshold_brl')],
    ],
  }),
  recarga_contestada: (data) => ({
    subject: t`Pagamento de ${amount(data)} contestado`,
    paragraphs: [
      'O pagamento de uma recarga foi contestado junto ao banco, e o valor saiu do seu saldo.',
      'Se não foi você quem contestou, escreva para o contato no fim deste e-mail.',
    ],
    facts: [
      ['Valor', data.brl('amount_brl')],
      ['Saldo', data.brl('balance_brl')],
      ['Recarga', data.text('id')],
    ],
  }),
  mudanca_de_preco: (data) => {
    const model = data.text('model_name') ?? t('um modelo')
    return {
      subject: t`O preço de ${model} vai mudar`,
      paragraphs: [
        'O preço de um modelo que você usou nos últimos 90 dias vai subir. Até a data abaixo nada muda.',
        'Se preferir outro modelo para as suas chamadas, veja o catálogo e os multiplicadores em vigor em GET /v1/models.',
      ],
      facts: [
        ['Modelo', model],
        ['Id do modelo', data.text('model_id')],
        ['A partir de', data.time('starts_at')],
        ['Multiplicador atual', comma(data.text('markup_multiplier_before'))],
        ['Multiplicador novo', comma(data.text('markup_multiplier'))],
        ['Aumento', percent(data)],
        ['Entrada, por milhão de tokens', fromTo(data, 'input_brl')],
        ['Saída, por milhão de tokens', fromTo(data, 'output_brl')],
      ],
      page: {
        label: 'Ver o modelo',
        path: `/modelos/${(data.text('model_id') ?? '').split('/').map(encodeURIComponent).join('/')}`,
      },
    }
  },
  fim_de_modelo: (data) => {
    const models = data.list('models')
    const [first, ...others] = models
    return {
      subject:
        first && others.length === 0
          ? t`${first.text('model_name') ?? t('um modelo')} vai sair do ar`
          : 'Modelos que você usa vão sair do ar',
      paragraphs: [
        'O fabricante vai encerrar o que você usou nos últimos 30 dias. Depois do dia abaixo, as chamadas podem falhar.',
        'Troque o nome do modelo nas suas chamadas antes disso. Se um substituto é indicado, experimente-o primeiro: respostas e preço são outros.',
      ],
      facts: models.flatMap((model): Fact[] => [
        ['Modelo', model.text('model_name')],
        ['Id do modelo', model.text('model_id')],
        ['Sai do ar em', model.day('ends_on')],
        ['Substituto', model.text('replacement_name')],
      ]),
      page: { label: 'Ver os modelos', path: '/modelos' },
    }
  },
  saldo_baixo: (data) => ({
    subject: 'Seu saldo está baixo',
    paragraphs: [
      'Seu saldo está perto do fim. Quando ele acabar, as chamadas serão recusadas até a próxima recarga.',
    ],
    facts: [
      ['Saldo', data.brl('balance_brl')],
      ['Limite do aviso', data.brl('threshold_brl')],
      ['Duração estimada', days(data)],
    ],
    closing: [HOW_TO_STOP],
  }),
  saldo_critico: (data) => ({
    subject: 'Seu saldo acaba em poucos dias',
    paragraphs: ['No ritmo dos últimos dias, seu saldo acaba logo. Recarregue para não parar.'],
    facts: [
      ['Saldo', data.brl('balance_brl')],
      ['Duração estimada', days(data)],
    ],
    closing: [HOW_TO_STOP],
  }),
  saldo_zerado: (data) => ({
    subject: 'Seu saldo acabou e as chaves foram suspensas',
    paragraphs: [
      'Seu saldo chegou a zero. Suas chaves estão suspensas: as chamadas de modelos são recusadas com 402.',
      'Com a próxima recarga elas voltam a funcionar sozinhas: você não precisa trocar nada.',
    ],
    facts: [
      ['Saldo', data.brl('balance_brl')],
      ['Desde', data.time('at')],
    ],
  }),
  chaves_reativadas: (data) => ({
    subject: 'Suas chaves estão ativas de novo',
    paragraphs: ['Seu saldo é positivo outra vez, e suas chaves voltaram a funcionar.'],
    facts: [['Saldo', data.brl('balance_brl')]],
  }),
  reembolso_solicitado: (data) => ({
    subject: t`Pedido de reembolso de ${amount(data)} recebido`,
    paragraphs: [
      'Recebemos o seu pedido. O valor saiu do saldo e será devolvido pela mesma forma de pagamento.',
    ],
    facts: refundFacts(data),
  }),
  reembolso_concluido: (data) => ({
    subject: t`Reembolso de ${amount(data)} concluído`,
    paragraphs: [
      'O reembolso foi feito. Por Pix o valor chega em minutos; no cartão, em até duas faturas.',
    ],
    facts: refundFacts(data),
  }),
  reembolso_recusado: (data) => ({
    subject: t`Reembolso de ${amount(data)} recusado`,
    paragraphs: ['Não pudemos aceitar o seu pedido de reembolso. O valor está no seu saldo.'],
    facts: [...refundFacts(data), ['Motivo', data.text('reason')]],
  }),
  reembolso_falhou: (data) => ({
    subject: t`Reembolso de ${amount(data)} não foi concluído`,
    paragraphs: [
      'O reembolso não pôde ser feito pela mesma forma de pagamento. O valor voltou ao seu saldo.',
      'Você pode pedir de novo, ou escrever para o contato no fim deste e-mail.',
    ],
    facts: refundFacts(data),
  }),
  arrependimento_confirmado: (data) => ({
    subject: t`Desistência da recarga de ${amount(data)} confirmada`,
    paragraphs: [
      'Recebemos a sua desistência, dentro dos 7 dias (CDC, art. 49). O que não foi gasto volta sem custo.',
    ],
    facts: refundFacts(data),
  }),
  indicacao_recompensa: (data) => ({
    subject: t`Você ganhou ${data.brl('reward_brl') ?? amount(data)} por uma indicação`,
    paragraphs: [
      'A primeira recarga de quem você indicou passou dos 7 dias sem ser devolvida, e a pessoa já usa a Catraca com o que pagou. A recompensa está no seu saldo, como crédito promocional. Obrigado!',
      'Se a pessoa contestar o pagamento, o que ainda houver da recompensa é estornado.',
    ],
    facts: [
      ['Recompensa', data.brl('reward_brl') ?? data.brl('amount_brl')],
      ['Saldo', data.brl('balance_brl')],
    ],
  }),
} satisfies Record<string, Template>

function comma(decimal: string | undefined): string | undefined {
  return language() === 'pt-BR' ? decimal?.replace('.', ',') : decimal
}

function percent(data: DataReader): string | undefined {
  const change = comma(data.text('change_percent'))
  return change && `${change}%`
}

function whereIs(data: DataReader): string {
  return `GET /v1/topups/${data.text('id') ?? ''}`.replace(/\/$/, '')
}

function refundFacts(data: DataReader) {
  return [
    ['Valor', data.brl('amount_brl')],
    ['Forma', methodOf(data)],
    ['Reembolso', data.text('id')],
    ['Data', data.time('at')],
  ] as const
}

function endingOf(data: DataReader): string | undefined {
  const lastFour = data.text('last_four')
  return lastFour && t`final ${lastFour}`
}

function days(data: DataReader): string | undefined {
  const count = data.count('runway_days')
  if (count === undefined) return undefined
  return data.is('runway_days', 1) ? t('1 dia') : t`${count} dias`
}

/** Both at the exchange rate of the notice. */
function fromTo(data: DataReader, name: string): string | undefined {
  const [before, after] = [data.brl(`${name}_before`), data.brl(name)]
  return before && after && t`de ${before} para ${after}, no câmbio de hoje`
}
