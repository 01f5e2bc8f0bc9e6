import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { anyCharacter } from '../../../test/harness/fast-check.ts'
import { writePdf } from './pdf.ts'

/** The shown texts, by page, as a reader decodes them. */
function textsOf(pdf: Buffer): string[][] {
  return pdf
    .toString('latin1')
    .split('/Type/Page/')
    .slice(1)
    .map((page) =>
      [...page.matchAll(/Td<([0-9a-f]*)>Tj/g)].map(([, hex = '']) =>
        Buffer.from(hex, 'hex').toString('latin1'),
      ),
    )
}

test('each object of a PDF is where its table says, and each stream as long as it says', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter })), (texts) => {
      const pdf = writePdf('Extrato', [
        ...texts.map((text) => ({ text })),
        { text: 'é', right: '1' },
      ])
      const whole = pdf.toString('latin1')
      const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(whole)?.[1])
      const table = whole.slice(start)
      assert.match(table, /^xref\n0 \d+\n0000000000 65535 f \n/)
      const places = [...table.matchAll(/^(\d{10}) 00000 n $/gm)].map(([, place]) => Number(place))
      for (const [index, place] of places.entries())
        assert.ok(whole.startsWith(`${index + 1} 0 obj<<`, place), `object ${index + 1}`)
      for (const [, length, stream] of whole.matchAll(
        /<<\/Length (\d+)>>stream\n([^]*?)\nendstream/g,
      ))
        assert.equal(stream?.length, Number(length))
    }),
  )
})

test('a PDF shows Portuguese, breaks long lines, loses no word, and goes on on another page', () => {
  const words = Array.from({ length: 40 }, (_, index) => `ação${index}`)
  const lines = Array.from({ length: 60 }, () => ({
    text: words.join(' '),
    right: '− R$\u00A01,00',
  }))
  const pages = textsOf(writePdf('Extrato', lines))
  assert.ok(pages.length > 1)
  const shown = pages.flat()
  const amounts = shown.filter((text) => text === '\u0096 R$\u00A01,00')
  assert.equal(amounts.length, 60)
  const left = shown.filter((text) => !text.includes('R$'))
  assert.deepEqual(left.join(' ').split(' '), Array.from({ length: 60 }, () => words).flat())
  assert.deepEqual(textsOf(writePdf('', [{ text: 'Łódź 木' }])), [['?\u00F3dz ?']])
})
