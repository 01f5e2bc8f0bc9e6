/**
 * Generated prompts with documents in every spelling. The oracle below is written without the finders: another
 * normalisation, other expressions, other arithmetic.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/harness/fast-check.ts'
import { effort, seedOr } from '../../test/harness/effort.ts'
import { findPersonalData } from './find-personal-data.ts'
import { maskText } from './mask-text.ts'
import { chooseTag, createPlaceholders, type Encoding } from './placeholders.ts'
import { createTextRestorer, restoreText } from './restore-text.ts'

interface Planted {
  readonly kind: string
  /** The text, with the words that its detection requires around it. */
  readonly text: string
  /** Letters and digits of the value in capitals, as no masked text may contain them. */
  readonly core: string
}

const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

function withCheckDigits(rest: string, weights: readonly number[]): string {
  const digitOf = (text: string): string => {
    const used = weights.slice(weights.length - text.length)
    const sum = Array.from(text).reduce(
      (total, character, place) =>
        total + ((character.codePointAt(0) as number) - 48) * (used[place] as number),
      0,
    )
    return String(sum % 11 < 2 ? 0 : 11 - (sum % 11))
  }
  const first = rest + digitOf(rest)
  return first + digitOf(first)
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
    fc.constantFrom('joao', 'maria.silva', 'j_s-2', 'ana+pix', 'JOÃO', "o'brien", 'x9'),
    fc.nat({ max: 9999 }),
    fc.constantFrom('exemplo.com', 'ex-emplo.com.br', 'a.b.co', 'AÇAÍ.COM.BR', 'xn--aa-bja.com'),
  )
  .map(([name, number, domain]) => `${name}${number}@${domain}`)
const uuid = fc.uuid()

const document: fc.Arbitrary<Planted> = fc.oneof(
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
  ]),
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

const prompt = fc
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

const PLACEHOLDER = /(?:CPF|CNPJ|EMAIL|TELEFONE|CARTAO|PIX)\d+(?:V\d+)?[QZKWX]{2}/g

/** Every valid document in a text, by wide expressions. */
function oracle(masked: string): string[] {
  const text = masked
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .replaceAll(/\\+\//g, '/')
    .replaceAll(/\\+[nrt]/g, '\n')
    .replaceAll('%40', '@')
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\p{Pd}/gu, '-')
    .replaceAll(PLACEHOLDER, '§')
  const found: string[] = []
  for (const [address] of text.matchAll(/[^\s@<>"=:(]+@[^\s@]+\.\p{L}{2,}/gu)) found.push(address)
  for (const [id] of text.matchAll(/[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}/gi))
    found.push(id)
  for (const [chain] of text.matchAll(/\d(?:[^\p{L}\d,;:|\n\t"§]{0,3}\d)*/gu)) {
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

const squeeze = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .toUpperCase()

function mask(text: string, encoding: Encoding) {
  const found = findPersonalData(text, { uuids: 'near_pix' })
  const placeholders = createPlaceholders(chooseTag([text]))
  return { found, placeholders, masked: maskText(text, found, placeholders, encoding) }
}

function restoreInPieces(
  text: string,
  cuts: readonly number[],
  { placeholders }: ReturnType<typeof mask>,
  encoding: Encoding,
): string {
  const restorer = createTextRestorer(placeholders, encoding)
  let restored = ''
  let place = 0
  for (let turn = 0; place < text.length; turn += 1) {
    const end = place + (cuts[turn % cuts.length] as number)
    const piece = restorer.push(text.slice(place, end))
    assert.doesNotMatch(piece.slice(-1), /[\uD800-\uDBFF]/, 'half of a pair')
    restored += piece
    place = end
  }
  return restored + restorer.end()
}

const parameters = {
  numRuns: effort({ ordinary: 2000, full: 50_000 }),
  seed: seedOr(16),
}
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

test('no document leaves in any spelling, and all come back at any cut', () => {
  let planted = 0
  fc.assert(
    fc.property(prompt, cuts, ({ documents, text }, sizes) => {
      const result = mask(text, 'text')
      planted += documents.length
      assert.deepEqual(oracle(result.masked), [], result.masked)
      const rest = squeeze(result.masked)
      for (const { core } of documents) assert.ok(!rest.includes(core), `${core} in ${rest}`)
      assert.equal(result.found.length, documents.length, result.masked)
      assert.equal(restoreText(result.masked, result.placeholders, 'text'), text)
      assert.equal(restoreInPieces(result.masked, sizes, result, 'text'), text)
      const lower = result.masked.replaceAll(PLACEHOLDER, (each) =>
        text.includes(each) ? each : each.toLowerCase(),
      )
      assert.equal(restoreInPieces(lower, sizes, result, 'text'), text)
    }),
    parameters,
  )
  assert.ok(planted > parameters.numRuns)
})

test('arguments of tool calls stay JSON, and come back at any cut', () => {
  fc.assert(
    fc.property(prompt, cuts, fc.boolean(), ({ documents, text }, sizes, isAscii) => {
      const values = { texto: text, numeros: [52998224725, -52998224725, 1.5], [text]: null }
      const plain = JSON.stringify(values)
      const source = isAscii
        ? plain.replaceAll(
            /[\u0080-\uFFFF@<>]/g,
            (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
        : plain
      const result = mask(source, 'json')
      assert.deepEqual(oracle(result.masked), [], result.masked)
      for (const { core } of documents) assert.ok(!squeeze(result.masked).includes(core))
      assert.doesNotThrow(() => JSON.parse(result.masked) as unknown)
      assert.equal(restoreInPieces(result.masked, sizes, result, 'json'), source)
      assert.deepEqual(JSON.parse(restoreText(result.masked, result.placeholders, 'json')), values)
    }),
    { ...parameters, numRuns: Math.ceil(parameters.numRuns / 2) },
  )
})

test('the oracle finds the documents in a text that is not masked', () => {
  fc.assert(
    fc.property(document, ({ kind, text }) => {
      // A number without its area code has eight digits, as a date has.
      fc.pre(!/(?:tel|fone) /.test(text))
      assert.notDeepEqual(oracle(text), [], `${kind} ${text}`)
    }),
    { ...parameters, numRuns: effort({ ordinary: 300, full: 5000 }) },
  )
})
