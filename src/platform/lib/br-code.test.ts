import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { anyCharacter, anyGrapheme } from '../../../test/harness/fast-check.ts'
import { checksumOf, readBrCode, writeBrCode } from './br-code.ts'

const STATIC =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000520400005303986540550.005802BR5915GATEWAY IA LTDA6009SAO PAULO62280524TOPUP000000000000000000163046B30'
const DYNAMIC =
  '00020101021226800014br.gov.bcb.pix2558pix.example.com/qr/v2/cob/1e6c54d3ec9449b7a7fc53b6b0f998e7520400005303986540550.005802BR5915GATEWAY IA LTDA6009SAO PAULO62070503***630430C8'
/** Test vectors of a widely used library. */
const OTHERS = [
  '00020126650014br.gov.bcb.pix0119nubank@thalesog.com0220Gerado por Pix-Utils52040000530398654041.005802BR5914Thales Ogliari6009Sao Paulo62070503***63046069',
  '00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a995204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB',
]

test('the checksum is CRC-16/CCITT-FALSE', () => {
  assert.equal(checksumOf('123456789'), '29B1')
})

test('written codes equal the published vectors', () => {
  const merchant = { merchantName: 'Gateway IA Ltda'.toUpperCase(), city: 'SÃO PAULO' }
  const key = '123e4567-e12b-12d1-a456-426655440000'
  const txid = 'TOPUP0000000000000000001'
  assert.equal(
    writeBrCode({ ...merchant, target: { kind: 'key', key }, amountCents: 5_000n, txid }),
    STATIC,
  )
  const url = 'pix.example.com/qr/v2/cob/1e6c54d3ec9449b7a7fc53b6b0f998e7'
  const dynamic = { ...merchant, target: { kind: 'url', url }, amountCents: 5_000n } as const
  assert.equal(writeBrCode({ ...dynamic, isOneTime: true }), DYNAMIC)
  const often = writeBrCode(dynamic)
  assert.ok(often.startsWith('00020126'), 'only one to be paid once says so')
  assert.equal(
    writeBrCode({
      target: { kind: 'key', key: 'nubank@thalesog.com', info: 'Gerado por Pix-Utils' },
      merchantName: 'Thales Ogliari',
      city: 'Sao Paulo',
      amountCents: 100n,
    }),
    OTHERS[0],
  )
})

test('the published vectors are read', () => {
  for (const text of [STATIC, DYNAMIC, ...OTHERS]) assert.ok(readBrCode(text), text)
  assert.deepEqual(readBrCode(OTHERS[1] as string), {
    target: { kind: 'url', url: 'pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99' },
    merchantName: 'EMPRESA',
    city: 'SAO PAULO',
    amountCents: undefined,
    txid: '***',
    isOneTime: true,
  })
})

const code = fc.record({
  target: fc.oneof(
    fc.record(
      {
        kind: fc.constant('key' as const),
        key: fc.stringMatching(/^[a-z0-9@.+-]{1,36}$/),
        info: fc.option(fc.stringMatching(/^[A-Za-z0-9]{1,20}$/), { nil: undefined }),
      },
      { noNullPrototype: true },
    ),
    fc.record(
      {
        kind: fc.constant('url' as const),
        url: fc.stringMatching(/^[a-z0-9./-]{1,70}$/),
      },
      { noNullPrototype: true },
    ),
  ),
  merchantName: fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }),
  city: fc.string({ unit: anyGrapheme, minLength: 1, maxLength: 40 }),
  amountCents: fc.option(fc.bigInt(1n, 999_999_999_999n), { nil: undefined }),
  isOneTime: fc.boolean(),
})

test('a written code is ASCII, short enough and reads back unchanged, whatever the names', () => {
  fc.assert(
    fc.property(code, (given) => {
      // A name without a single ASCII letter leaves nothing to write and is refused.
      const names = { merchantName: `A${given.merchantName}`, city: `B${given.city}` }
      const text = writeBrCode({ ...given, ...names })
      assert.match(text, /^[\x20-\x7e]{60,400}$/)
      assert.equal(checksumOf(text.slice(0, -4)), text.slice(-4))
      const read = readBrCode(text)
      assert.ok(read)
      assert.deepEqual(read.target, given.target)
      assert.equal(read.amountCents, given.amountCents)
      assert.equal(read.isOneTime, given.isOneTime)
      assert.ok(read.merchantName.length <= 25 && read.city.length <= 15)
    }),
  )
})

test('accents are removed and their letters kept', () => {
  const target = { kind: 'key', key: 'a@b.c' } as const
  const text = writeBrCode({ target, merchantName: 'Ação & Coração ™ Ltda', city: 'Florianópolis' })
  assert.equal(readBrCode(text)?.merchantName, 'Acao & Coracao TM Ltda')
  assert.equal(readBrCode(text)?.city, 'Florianopolis')
})

test('a code with one changed character is not read', () => {
  fc.assert(
    fc.property(fc.nat(STATIC.length - 1), fc.stringMatching(/^[\x20-\x7e]$/), (at, character) => {
      fc.pre(STATIC[at]?.toUpperCase() !== character.toUpperCase())
      const changed = STATIC.slice(0, at) + character + STATIC.slice(at + 1)
      assert.equal(readBrCode(changed), undefined)
    }),
  )
})

test('reading accepts any text', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => void readBrCode(text)))
  fc.assert(
    fc.property(fc.stringMatching(/^(\d{4}[a-z]{0,9}){0,9}$/), (text) => {
      const whole = `${text}6304`
      void readBrCode(whole + checksumOf(whole))
    }),
  )
})

test('values that the standard does not allow are refused', () => {
  const sound = { target: { kind: 'key', key: 'a@b.c' }, merchantName: 'A', city: 'B' } as const
  assert.ok(writeBrCode(sound))
  for (const change of [
    { amountCents: 0n },
    { amountCents: -1n },
    { amountCents: 1_000_000_000_000n },
    { txid: 'with-dash' },
    { txid: 'A'.repeat(26) },
    { merchantName: '漢字' },
    { city: '' },
    { target: { kind: 'key', key: 'chave é' } },
    { target: { kind: 'url', url: `pix.example.com/${'a'.repeat(80)}` } },
    { target: { kind: 'url', url: 'pix.example.com' }, txid: 'ABC' },
  ] as const) {
    assert.throws(() => writeBrCode({ ...sound, ...change }), RangeError)
  }
})
