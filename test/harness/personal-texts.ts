/**
 * Generated prompts with documents in every spelling. The oracle is written without the finders of `src/gateway/shield`: another
 * normalisation, other expressions, other arithmetic.
 */
import fc from './fast-check.ts'
import { CNPJ_WEIGHTS, CPF_WEIGHTS, withCheckDigits } from './tax-id-check-digits.ts'

export interface Planted {
  readonly kind: string
  /** The text, with the words that its detection requires around it. */
  readonly text: string
  /** Letters and digits of the value in capitals, as no masked text may contain them. */
  readonly core: string
}

/** Sums the digits of doubled digits instead of subtracting nine. */
function isLuhn(digits: string): boolean {
  const doubled = Array.from(digits)
    .toReversed()
    .map((digit, place) => (place % 2 === 1 ? String(Number(digit) * 2) : digit))
  return Array.from(doubled.join('')).reduce((sum, digit) => sum + Number(digit), 0) % 10 === 0
}

const isRepeated = (text: string): boolean => new Set(text).size === 1
const digits = (length: number) =>
  fc.nat({ max: 10 ** length - 1 }).map((number) => String(number).padStart(length, '0'))
const letters = fc
  .array(fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')), {
    minLength: 12,
    maxLength: 12,
  })
  .map((list) => list.join(''))

/** `#` is one character of the value. */
function write(pattern: string, value: string): string {
  let place = 0
  return pattern.replaceAll('#', () => value[place++] ?? '')
}

/** Another way of writing the same characters. */
const DRESSES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text.replaceAll(/[!-~]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)),
  (text) => text.replaceAll(/[0-9]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)),
  (text) => text.replaceAll(' ', '\u00A0').replaceAll('-', '\u2013'),
  (text) => text.replaceAll(' ', '\u202F').replaceAll('-', '\u2011'),
  (text) => text.replaceAll(/[.-]/g, '$&\u200B'),
  (text) => text.replaceAll('/', String.raw`\/`),
  (text) => text.normalize('NFD'),
  (text) => text.replaceAll(/[0-9]/g, '$&\uFE0F'),
  (text) => text.replaceAll(/[0-9]/g, '$&\uFE0F\u20E3'),
  (text) => text.replaceAll(/(?<=[0-9])(?=[0-9])/g, '\u200D'),
  (text) => text.replaceAll(/[0-9]+/g, '\u2066$&\u2069'),
  (text) => text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0x1d7ce + Number(digit))),
]

function planted(
  kind: string,
  values: fc.Arbitrary<string>,
  patterns: readonly string[],
): fc.Arbitrary<Planted> {
  return fc
    .tuple(values, fc.constantFrom(...patterns), fc.constantFrom(...DRESSES))
    .map(([value, pattern, dress]) => {
      const [before = '', spelling = '', after = ''] = pattern.includes('|')
        ? pattern.split('|')
        : ['', pattern, '']
      return {
        kind,
        text: before + dress(write(spelling, value)) + after,
        core: value.replaceAll(/[^0-9A-Za-z]/g, '').toUpperCase(),
      }
    })
}

const cpf = digits(9)
  .filter((rest) => !isRepeated(rest))
  .map((rest) => withCheckDigits(rest, CPF_WEIGHTS))
const cnpj = fc
  .oneof(digits(12), letters)
  .filter((rest) => !isRepeated(rest))
  .map((rest) => withCheckDigits(rest, CNPJ_WEIGHTS))
const plainCnpj = cnpj.filter((value) => /^\d+$/.test(value))
const areas = fc.constantFrom('11', '21', '27', '31', '38', '48', '55', '61', '79', '85', '99')
const mobile = fc.tuple(areas, digits(8)).map(([area, rest]) => `${area}9${rest}`)
const landline = fc
  .tuple(areas, fc.constantFrom('2', '3', '4', '5'), digits(7))
  // Two years, as in "12 2019-2020", are taken for years.
  .map(([area, first, rest]) => `${area}${first}${rest}`)
  .filter((value) => !/^..20\d\d(?:19|20)/.test(value))
const toCard = (prefix: string, length: number): fc.Arbitrary<string> =>
  digits(length - prefix.length - 1).map((rest) => {
    const body = prefix + rest
    return body + Array.from('0123456789').find((last) => isLuhn(body + last))
  })
const card16 = fc
  .constantFrom('4', '51', '55', '2221', '2720', '6011', '65', '3528', '606282', '5067', '636368')
  .chain((prefix) => toCard(prefix, 16))
const amex = fc.constantFrom('34', '37').chain((prefix) => toCard(prefix, 15))
const diners = fc.constantFrom('300', '305', '36', '38').chain((prefix) => toCard(prefix, 14))
const email = fc
  .tuple(
    fc.constantFrom(
      'joao',
      'maria.silva',
      'j_s-2',
      'ana+pix',
      'JOÃO',
      'conceição',
      "o'brien",
      'x9',
    ),
    fc.nat({ max: 9999 }),
    fc.constantFrom(
      'exemplo.com',
      'ex-emplo.com.br',
      'a.b.co',
      'AÇAÍ.COM.BR',
      'xn--aa-bja.com',
      '3x.com.br',
      '123.com',
    ),
  )
  .map(([name, number, domain]) => `${name}${number}@${domain}`)
const uuid = fc.uuid()

export const document: fc.Arbitrary<Planted> = fc.oneof(
  planted('cpf', cpf, [
    '###.###.###-##',
    '###########',
    '### ### ### ##',
    '###-###-###-##',
    '###.###.###/##',
    '#########-##',
    '### ### ###-##',
    '###.###.#####',
    '### . ### . ### - ##',
    'CPF|###########|',
    'cpf_|###########|.pdf',
    'CPF|###########|CNPJ',
    'cliente|###########|',
    '|###########|kg',
    'CPF |###########|.50',
    'CPF |# # # # # # # # # # #|',
    'cpf: |#.#.#.#.#.#.#.#.#.#.#|',
    '000###########',
    '###,###,###-##',
    '###·###·###-##',
  ]),
  planted('cnpj', cnpj, [
    '##.###.###/####-##',
    '##############',
    '## ### ### #### ##',
    '##-###-###-####-##',
    '########/####-##',
    '########/######',
    '##.###.###.####-##',
    '## . ### . ### / #### - ##',
    'CNPJ|##############|CPF',
    'CNPJ|##.###.###/####-##|CPF',
  ]),
  planted('cnpj', plainCnpj, ['##,###,###/####-##', '0##############']),
  planted('phone', mobile, [
    '(##) #####-####',
    '(##)#########',
    '###########',
    '## #####-####',
    '## # ####-####',
    '## ##### ####',
    '##-#####-####',
    '##.#####.####',
    '##/#####-####',
    '## ### ### ###',
    '(##) #.####-####',
    '+55 ## #####-####',
    '+55###########',
    '+55 (##) #####-####',
    '(+55 ##) #####-####',
    '55###########',
    '0055 ## #####-####',
    '0055###########',
    '(0xx##) #####-####',
    '0xx## #####-####',
    '(0##) #####-####',
    '0###########',
    '0 15 ## #####-####',
  ]),
  planted('phone', landline, [
    '(##) ####-####',
    '(##)########',
    '## ####-####',
    '##-####-####',
    '##.####.####',
    '+55 ## ####-####',
    '+55##########',
    '55##########',
    '(0xx##) ####-####',
    '0XX## ####-####',
    'Tel. |##########|',
    'telefone: |## #### ####|',
    'ligue |0##########|',
  ]),
  planted('phone', digits(7), ['0800 ### ####', '0800-###-####', '0800#######', '(0800) ### ####']),
  planted('phone', digits(6), ['0800 ### ###', '0800######', '0300 ## ####']),
  planted(
    'phone',
    digits(7).map((rest) => `3${rest}`),
    ['tel |####-####|', 'fone |########|'],
  ),
  planted('card', card16, [
    '################',
    '#### #### #### ####',
    '####-####-####-####',
    '####.####.####.####',
    '####  ####  ####  ####',
    '######## ########',
    '###### ##########',
    '#### #### ########',
    'cartao|################|cvv',
  ]),
  planted('card', amex, ['###############', '#### ###### #####', '####-######-#####']),
  planted('card', diners, ['##############', '#### ###### ####', '####-######-####']),
  planted('email', email, [
    '#'.repeat(40),
    '<|' + '#'.repeat(40) + '|>',
    'mailto:|' + '#'.repeat(40) + '|?x',
  ]),
  planted('pix_key', uuid, [
    'pix |' + '#'.repeat(36) + '|',
    'Chave Pix: |' + '#'.repeat(36) + '|',
    '|' + '#'.repeat(36) + '| (pix)',
  ]),
)

const FILLERS = [
  'O cliente pediu',
  'até 23/11/2026 às 14:30,',
  'R$ 1.234,56 no total',
  '😀 obrigado 👍🏽',
  'CPF1QZ e EMAIL2ZK',
  'cpf1',
  'CARTAO',
  'TELEFONE',
  'PIX1',
  'Ação nº 7',
  String.raw`{"nome":"José \"Zé\"","n":12}`,
  'linha\nnova',
  '日本語のテキスト',
  'e também\tfim.',
]
const JOINTS = [' ', ', ', '; ', '\n', ' | ', ': ', '"', '\t', ' e ', String.raw`\n`]

export const prompt = fc
  .array(
    fc.tuple(
      fc.option(document, { freq: 2 }),
      fc.constantFrom(...FILLERS),
      fc.constantFrom(...JOINTS),
      fc.boolean(),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((parts) => {
    const documents = parts.flatMap(([each]) => (each ? [each] : []))
    // Two numbers with nothing but a space between them may be read as one.
    const text = parts
      .map(([each, filler, joint, isAfter]) => {
        const value = each?.text ?? ''
        const end = joint === ' ' ? ', ' : joint
        return isAfter ? filler + joint + value + end : value + joint + filler + joint
      })
      .join('')
    return { documents, text }
  })

export const PLACEHOLDER = /(?:CPF|CNPJ|EMAIL|TELEFONE|CARTAO|PIX)\d+(?:V\d+)?[QZKWX]{2}/g

/** Every valid document in a text, by wide expressions. */
export function oracle(masked: string): string[] {
  const text = masked
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .replaceAll(/\\+\//g, '/')
    .replaceAll(/\\+[nrt]/g, '\n')
    .replaceAll('%40', '@')
    .normalize('NFKC')
    .replaceAll(/\p{Cf}|[\uFE00-\uFE0F\u20E3]/gu, '')
    .replaceAll(/\p{Pd}/gu, '-')
    .replaceAll(PLACEHOLDER, '§')
  const found: string[] = []
  for (const [address] of text.matchAll(/[^\s@<>"=:(]+@[^\s@]+\.\p{L}{2,}/gu)) found.push(address)
  for (const [id] of text.matchAll(/[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}/gi))
    found.push(id)
  for (const [chain] of text.matchAll(/\d(?:(?:,|[^\p{L}\d,;:|\n\t"§]{0,3})\d)*/gu)) {
    const all = chain.replaceAll(/\D/g, '')
    for (let start = 0; start < all.length; start += 1) {
      const elevenDigits = all.slice(start, start + 11)
      const isCpf =
        elevenDigits.length === 11 &&
        !isRepeated(elevenDigits) &&
        withCheckDigits(elevenDigits.slice(0, 9), CPF_WEIGHTS) === elevenDigits
      if (isCpf) found.push(elevenDigits)
      for (let length = 14; length <= 19; length += 1) {
        const window = all.slice(start, start + length)
        if (window.length === length && /^[2-6]/.test(window) && isLuhn(window)) found.push(window)
      }
    }
    // No filler has eight digits in a row but a date.
    if (all.length > 8) found.push(all)
  }
  for (const [word] of text.matchAll(/[0-9A-Z][0-9A-Z./ -]{12,24}\d/g)) {
    const all = word.replaceAll(/[^0-9A-Z]/g, '')
    for (let start = 0; start + 14 <= all.length; start += 1) {
      const window = all.slice(start, start + 14)
      if (/\d\d$/.test(window) && withCheckDigits(window.slice(0, 12), CNPJ_WEIGHTS) === window)
        found.push(window)
    }
  }
  return found
}

export const squeeze = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .toUpperCase()

/** The documents that a masked text still contains, and anything else that looks like one. */
export function leaksOf(masked: string, documents: readonly Planted[]): string[] {
  const rest = squeeze(masked)
  const whole = documents.filter(({ core }) => rest.includes(core)).map(({ core }) => core)
  return [...oracle(masked), ...whole]
}
