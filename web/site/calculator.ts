/** The calculator of the landing page. Everything happens in this tab: the page may connect to nothing. */
import { readPrices, type WrittenPrices } from './calculator-prices.ts'
import { compareCosts, type Comparison } from './compare-costs.ts'
import { readInvoice } from './read-invoice.ts'
import { readAmount } from './read-number.ts'

const isEnglish = document.documentElement.lang === 'en-US'
/** The text in the language of the page. */
const say = (portuguese: string, english: string): string => (isEnglish ? english : portuguese)

const EXAMPLE = [
  [
    say(
      '1.200.000 tokens de entrada, 300.000 de saída',
      '1,200,000 input tokens, 300,000 output tokens',
    ),
    0,
  ],
  [say('US$ 38,20', 'US$ 38.20'), 1],
] as const
const PERCENT_E2_MAX = 10_000n

const byId = (id: string) => document.getElementById(id) as HTMLElement
const invoice = byId('fatura') as HTMLTextAreaElement
const usual = byId('modelo-padrao') as HTMLSelectElement
const iof = byId('iof') as HTMLInputElement
const spread = byId('spread') as HTMLInputElement
const result = byId('resultado')
const prices = readPrices(
  JSON.parse(byId('precos-da-calculadora').textContent ?? '') as WrittenPrices,
)
const hint = [...result.childNodes]

for (const field of [invoice, usual, iof, spread]) field.addEventListener('input', show)
byId('exemplo').addEventListener('click', () => {
  invoice.value = EXAMPLE.map(([text, place]) => {
    const model = prices.models[place] ?? prices.models[0]
    return `${model?.id ?? ''}, ${text}`
  }).join('\n')
  show()
})
// The browser may have kept the text over a reload.
if (invoice.value !== '') show()

function show(): void {
  const chosen = prices.models.find(({ id }) => id === usual.value)
  if (!chosen || invoice.value.trim() === '') {
    result.replaceChildren(...hint)
    return
  }
  const read = readInvoice(invoice.value, prices.models, prices.rateE4)
  if (read.lines.length === 0 && read.unknown.length === 0) {
    result.replaceChildren(
      paragraph(
        say(
          'Não achamos nenhum valor em dólares nem tokens no que você colou.',
          'We found no dollar amounts and no tokens in what you pasted.',
        ),
      ),
      paragraph(
        say('Escreva, por exemplo: Total: US$ 52,10', 'Write, for example: Total: US$ 52.10'),
        'muted small',
      ),
    )
    return
  }
  const terms = { iofE2: percent(iof), spreadE2: percent(spread) }
  const compared = compareCosts(read, prices, chosen, terms)
  const missing = read.unknown.map(
    (text) =>
      `${say('Fora da conta, não está no catálogo', 'Left out, not in the catalog')}: ${text}`,
  )
  const assumed = read.lines.some(({ model }) => !model)
    ? [
        say(
          `Linhas sem modelo contam com o multiplicador de ${chosen.name}.`,
          `Lines without a model use the multiplier of ${chosen.name}.`,
        ),
      ]
    : []
  result.replaceChildren(
    ...totals(compared),
    list(compared),
    ...[...missing, ...assumed].map((text) => paragraph(text, 'muted small')),
  )
}

function totals({ cost, charge, card }: Comparison): HTMLElement[] {
  const difference = card - charge
  const verdict =
    difference >= 0n
      ? `${brl(difference)} ${say('a menos do que no cartão internacional', 'less than on an international card')} (${brl(card)}).`
      : `${brl(-difference)} ${say('a mais do que no cartão internacional', 'more than on an international card')} (${brl(card)}).`
  const total = paragraph(brl(charge), 'big')
  total.id = 'total'
  return [
    paragraph(
      say(`Por Pix, na Catraca, ${usd(cost)} dariam`, `By Pix, on Catraca, ${usd(cost)} would be`),
      'muted',
    ),
    total,
    paragraph(verdict),
    ...(difference < 0n ? [whyMore()] : []),
  ]
}

/** The difference is what the service costs: it is said where it shows, and in full below. */
function whyMore(): HTMLParagraphElement {
  const made = paragraph('', 'small')
  const link = document.createElement('a')
  link.href = '#por-que'
  link.textContent = say('Por que pagar mais?', 'Why pay more?')
  made.append(link)
  return made
}

function list({ lines }: Comparison): HTMLElement {
  const items = document.createElement('ul')
  for (const { text, charge } of lines) {
    const item = document.createElement('li')
    const [name, amount] = [document.createElement('span'), document.createElement('span')]
    name.textContent = text
    amount.textContent = brl(charge)
    item.append(name, amount)
    items.append(item)
  }
  return items
}

function paragraph(text: string, className = ''): HTMLParagraphElement {
  const made = document.createElement('p')
  made.textContent = text
  if (className !== '') made.className = className
  return made
}

/** Times 10^2; 0 for anything else than a percentage. */
function percent({ value }: HTMLInputElement): bigint {
  const given = (readAmount(value) ?? 0n) / 10_000_000_000n
  return given > PERCENT_E2_MAX ? PERCENT_E2_MAX : given
}

const CENTAVO = 10_000_000n
const AMOUNT = new Intl.NumberFormat(say('pt-BR', 'en-US'), {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
})

/** To the centavo, from nano-BRL. */
function brl(nano: bigint): string {
  return `R$\u00a0${AMOUNT.format(decimal((nano + CENTAVO / 2n) / CENTAVO))}`
}

/** To the cent, from pico-USD. */
function usd(pico: bigint): string {
  return `US$\u00a0${AMOUNT.format(decimal((pico + 5_000_000_000n) / 10_000_000_000n))}`
}

function decimal(cents: bigint): `${number}` {
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}` as `${number}`
}
