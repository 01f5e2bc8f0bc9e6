import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { findEmails } from './find-emails.ts'
import { findNumbers } from './find-numbers.ts'
import { findPersonalData } from './find-personal-data.ts'
import { foldText } from './fold-text.ts'

function find(text: string, uuids: 'near_pix' | 'always' = 'near_pix'): string[] {
  return findPersonalData(text, { uuids }).map(
    ({ kind, start, end }) => `${kind} ${text.slice(start, end)}`,
  )
}

/** The value is between the bars. */
const FOUND: Readonly<Record<string, readonly string[]>> = {
  cpf: [
    'meu CPF é |529.982.247-25|.',
    '|52998224725|',
    '|529 982 247 25|',
    '|529-982-247/25|',
    '|529.982.247 - 25|',
    '|529982247-25|',
    '|529.982.247\u201325|',
    '|529\u00A0982\u00A0247\u00A025|',
    '|529.\u200B982.247-25|',
    '|５２９．９８２．２４７－２５|',
    'CPF|52998224725|',
    'cpf_|52998224725|_frente.jpg',
    '11;|52998224725|;30',
    '|0529.982.247-25|',
    '|052998224725|',
    '|0052998224725|',
    '|00052998224725|',
    '|529\t982\t247\t25|',
    '|529\r\n982\r\n247\r\n25|',
    '|529\u2028982\u2028247\u202825|',
    'cpf |5.2998224725e10|',
    '|5.2998224725E+10|;',
    '|529982247250e-1|',
    String.raw`{"nota":"cliente\n|52998224725|"}`,
    String.raw`{"nota":"{\"cpf\":\"x\\n|52998224725|\"}"}`,
    String.raw`CPF:\u00a0|52998224725|`,
    'https://exemplo.com.br/clientes/|52998224725|?x=1',
  ],
  cnpj: [
    '|11.222.333/0001-81|',
    '|11222333000181|',
    '|11 222 333 0001 81|',
    '|11222333/0001-81|',
    String.raw`|11.222.333\/0001-81|`,
    '|12.ABC.345/01DE-35|',
    '|12.abc.345/01de-35|',
    '|12ABC34501DE35|',
    '|AA345678000A29|',
    '|AA.345.678/000A-29|',
    '|１２．ＡＢＣ．３４５／０１ＤＥ－３５|',
    'CNPJ |12abc34501de35|',
  ],
  email: [
    'João <|joao.silva+x@ex-ample.com.br|>',
    '|JOAO@EXEMPLO.COM|.',
    '|joão@açaí.com.br|',
    String.raw`\u003c|joao@exemplo.com|\u003e`,
    String.raw`"a\n|joao@exemplo.com|"`,
    '?email=|joao%40exemplo.com|&x=1',
    "'|o'brien@exemplo.com|'",
    'mailto:|a@b.co|',
    '@|user@server.social|',
    '|a＠exemplo．com|',
  ],
  phone: [
    '|(11) 98765-4321|',
    '|11\t98765-4321|',
    '|11\n98765-4321|',
    '|11\u200398765-4321|',
    '|11,98765-4321|',
    '|11;987654321|;x',
    '|11987654321|',
    '|+55 11 98765-4321|',
    '|+5511987654321|',
    '|5511987654321|',
    '|0055 11 98765 4321|',
    '|+55 (11) 9.8765-4321|',
    '|(+55 11) 98765-4321|',
    '|(+55) 11 98765-4321|',
    '|(0xx11) 3456-7890|',
    '|0XX11 3456-7890|',
    '|(0xx)11 3456-7890|',
    '|+55 (0xx11) 98765-4321|',
    '|0 15 11 3456-7890|',
    '|(011) 3456-7890|',
    '|011987654321|',
    '|11 9 8765 4321|',
    '|11.98765.4321|',
    '|11/98765-4321|',
    '|11 3456-7890|',
    '( |11 ) 3456 7890|',
    '|+55(11)98765 - 4321|',
    'wa.me/|5511987654321|',
    '|55 99876-5432|',
    '|11 987 654 321|',
    '|（１１）　９８７６５－４３２１|',
    'ligue |1134567890|',
    'Tel.: |3456-7890|',
    'celular |98765-4321|',
    '|0800 123 4567|',
    '|0800-123-4567|',
    '|08001234567|',
    '|0800 12 3456|',
    'WhatsApp |11987654321|',
  ],
  card: [
    '|4111 1111 1111 1111|',
    'Rua 11 |4111-1111-1111-1111|',
    '|4111\t1111\t1111\t1111|',
    '|4111111111111111|',
    '|4111-1111-1111-1111| 12/27 123',
    '|4111.1111.1111.1111|',
    '|3782 822463 10005|',
    '|378282246310005|',
    '|5555 5555 5555 4444|',
    '|6062 8288 8866 6688|',
    '|3056 930902 5904|',
    'cartão |4222222222222|',
  ],
  pix_key: [
    'chave Pix: |123e4567-e12b-12d1-a456-426655440000|',
    'Minha chave aleatória é |123E4567-E12B-12D1-A456-426655440000|',
    '|123e4567-e12b-12d1-a456-426655440000| (Pix)',
    'pix |123e4567e12b12d1a456426655440000|',
    '00020126580014br.gov.bcb.pix0136|123e4567-e12b-12d1-a456-426655440000|520400005303986540550.005802BR5915GATEWAY IA LTDA6009SAO PAULO62280524TOPUP000000000000000000163046B30',
    '00020126440014BR.GOV.BCB.PIX0122|thalesog@exemplo.com.b|52040000530398654041.005802BR',
  ],
}

for (const [kind, texts] of Object.entries(FOUND))
  for (const text of texts)
    test(`${kind} found: ${text}`, () => {
      const [before = '', value = '', after = ''] = text.split('|')
      assert.deepEqual(find(before + value + after), [`${kind} ${value}`])
    })

const NOT_FOUND = [
  '529.982.247-26',
  '111.111.111-11',
  '11.222.333/0001-82',
  '00000000000000',
  '12ABC34501DE00',
  '12abc34501de35',
  'valor 0.52998224725',
  'a52998224725f',
  'pedido 4111111111111112',
  '1111 1111 1111 1111',
  '7891234567895',
  '4006381333931',
  'nota 3526 1111 2223 3300 0181 5500 1000 0000 0110 0000 0015',
  'id 123e4567-e12b-12d1-a456-426655440000',
  'pixel 123e4567-e12b-12d1-a456-426655440000',
  'logo@2x.png react@18.2.0 @Component user@localhost git@github.com:a/b.git a@b',
  'código 1134567890',
  'entre 3456-7890',
  'artigo 12 2019-2020',
  '2026-11-23T04:04:30.123Z 23/11/2026 01310-100 192.168.100.200 1763870670000',
  'R$ 1.234.567.890,12',
  'ISBN 978-85-333-0227-3',
  '',
]

for (const text of NOT_FOUND) test(`nothing found: ${text}`, () => assert.deepEqual(find(text), []))

test('as the option asks, every UUID is a Pix key', () => {
  const uuid = '123e4567-e12b-12d1-a456-426655440000'
  assert.deepEqual(find(`id ${uuid}.`, 'always'), [`pix_key ${uuid}`])
})

test('eleven digits that are both a CPF and a mobile number follow the word before them', () => {
  // 11 91234-5… with check digits of a CPF.
  const both = Array.from({ length: 100_000 }, (_, tail) => `119${String(tail + 10_000_000)}`).find(
    (digits) => find(digits).includes(`cpf ${digits}`),
  )
  assert.ok(both)
  assert.deepEqual(find(`CPF ${both}`), [`cpf ${both}`])
  assert.deepEqual(find(`celular ${both}`), [`phone ${both}`])
})

test('a phone number in two cells of a table is one', () => {
  const text = '| 11 | 98765-4321 |'
  assert.deepEqual(find(text), ['phone 11 | 98765-4321'])
})

const digits = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((all) => all.join(''))

/** `#` is a digit. */
const LONG_CODES = [
  '#####.##### #####.###### #####.###### # ##############',
  '#####.#####\t#####.######\t#####.######\t#\t##############',
  '########## ########### ########### # ##############',
  '8##########-# ###########-# ###########-# ###########-#',
  '8########### ############ ############ ############',
  '#### #### #### #### #### #### #### #### #### #### ####',
]

test('the line of a boleto or a bill and the access key of an invoice have nothing in them', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LONG_CODES), digits(48), (pattern, value) => {
      let index = 0
      const code = pattern.replaceAll('#', () => value.charAt(index++))
      assert.deepEqual(find(`Pague ${code} até 30/11`), [], code)
      assert.deepEqual(find(`Pague ${code} ou 529.982.247-25`), ['cpf 529.982.247-25'])
    }),
    { numRuns: 600, seed: 39 },
  )
})

test('values side by side are found one by one', () => {
  assert.deepEqual(
    find('529.982.247-25 11144477735,11.222.333/0001-81 4111 1111 1111 1111 529.982.247-25'),
    [
      'cpf 529.982.247-25',
      'cpf 11144477735',
      'cnpj 11.222.333/0001-81',
      'card 4111 1111 1111 1111',
      'cpf 529.982.247-25',
    ],
  )
})

/**
 * Each reader looks at a bounded number of characters around a place, so the time is linear. A quadratic search would
 * need minutes for these texts.
 */
const HOSTILE = [
  '1',
  '1.',
  '1 ',
  '(',
  '0(',
  '1(',
  '@',
  'a@',
  'a.',
  'a@b.',
  'a-',
  '-',
  '12345678-1234-1234-1234-',
  '\\',
  '\\n',
  '\\u0040',
  '%40',
  '\u200B',
  '\u00A0',
  '４',
  '1234 ',
  '0xx',
  '55 11 9',
  'AB1',
  'A.B-12 ',
  'pix',
  'br.gov.bcb.pix0199',
  'pix 123e4567-e12b-12d1-a456-426655440000 ',
  'tel 3456-7890 ',
  'CPF1QZ',
  'x@x.x1',
  '529.982.247-25 ',
]

test('texts of 300 kB that are hard to read take linear time', () => {
  for (const piece of HOSTILE) {
    const text = piece.repeat(Math.ceil(300_000 / piece.length))
    findPersonalData(text, { uuids: 'near_pix' })
  }
})

/** How often the work pauses for others. */
function pausesOf(work: Generator<void, unknown>): number {
  let pauses = 0
  while (!work.next().done) pauses += 1
  return pauses
}

test('a text of escapes, addresses or numbers alone is read in short steps', () => {
  const readings = {
    escapes: foldText(String.raw`\n`.repeat(100_000)),
    digits: foldText('\uFF11'.repeat(100_000)),
    addresses: findEmails('a@b.co '.repeat(100_000)),
    numbers: findNumbers('55 25 '.repeat(100_000), []),
  }
  for (const [kind, reading] of Object.entries(readings))
    assert.ok(pausesOf(reading) >= 90, `${kind} are read at once`)
})
