/** The files that the dashboard writes itself: calls and spending. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf } from '../../web/src/lib/csv.ts'

const linesOf = async (rows: Parameters<typeof csvOf>[1]): Promise<string> =>
  (await csvOf(['a'], rows).text()).slice('a\r\n'.length)

test('no name of a key, model or session runs as a formula, of any width or after invisible characters', async () => {
  for (const start of ['=', '+', '-', '@', '\t', ' =', '\uff1d', '\u00a0@', '\u200b='])
    assert.equal(await linesOf([[`${start}cmd|'!A0`]]), `"'${start}cmd|'!A0"\r\n`)
  assert.equal(await linesOf([['a,=1+1']]), '"a,=1+1"\r\n', 'where commas separate too')
})

test('numbers keep all their digits, with a decimal comma and without an exponent', async () => {
  assert.equal(
    await linesOf([[1e-7, -0.5, 12, 0, 1.5e-9, null]]),
    '0,0000001;-0,5;12;0;0,0000000015;\r\n',
  )
})

test('a spreadsheet reads the file as UTF-8', async () => {
  const bytes = new Uint8Array(await csvOf(['é'], []).arrayBuffer())
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
})
