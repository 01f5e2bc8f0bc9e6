import { LINES_MAX } from '../../customers/batches/batches.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { readFileLine, type LineInput } from './batch-lines.ts'

/** Lines that are stored at once. */
const GROUP_LINES = 500
const GROUP_BYTES = 1024 * 1024

const NEWLINE = 0x0a

/** Reads the lines of a file in groups. Throws the refusal of the first line that is wrong. */
export async function* readLines(
  text: AsyncIterable<Buffer>,
  { endpoint, bodyBytesMax }: { readonly endpoint: string; readonly bodyBytesMax: number },
): AsyncGenerator<string[]> {
  const checked = checkedLines()
  let group: string[] = []
  let bytes = 0
  let number = 0
  for await (const line of splitLines(text, bodyBytesMax)) {
    number += 1
    if (line.toString('latin1').trim() === '') continue
    const read = readFileLine(line, endpoint)
    if (typeof read === 'string') throw wrongLine(number, read)
    group.push(checked.add(read, number))
    bytes += line.length
    if (group.length < GROUP_LINES && bytes < GROUP_BYTES) continue
    yield group
    group = []
    bytes = 0
  }
  if (group.length > 0) yield group
  checked.end()
}

/** The lines that came with a batch, in one group after the other. */
export async function* groupLines(lines: readonly LineInput[]): AsyncGenerator<string[]> {
  const checked = checkedLines()
  for (let at = 0; at < lines.length; at += GROUP_LINES)
    yield lines.slice(at, at + GROUP_LINES).map((line, index) => checked.add(line, at + index + 1))
  checked.end()
}

/** Counts the lines of a batch, whose names are unique in it, and writes each for the database. */
function checkedLines() {
  const names = new Set<string>()
  return {
    add(line: LineInput, number: number): string {
      if (names.has(line.custom_id)) throw wrongLine(number, 'custom_id: já está em outra linha')
      if (names.size === LINES_MAX) throw wrongLine(number, `no máximo ${LINES_MAX} linhas`)
      names.add(line.custom_id)
      return JSON.stringify({ custom_id: line.custom_id, body: line.body })
    },
    end(): void {
      if (names.size === 0)
        throw new RestRefusal(400, 'invalid_request', 'O lote não tem nenhuma linha.')
    },
  }
}

function wrongLine(number: number, what: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', `linha ${number}: ${what}`)
}

async function* splitLines(text: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let kept: Buffer[] = []
  let keptBytes = 0
  let number = 1
  for await (const chunk of text) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const rest = chunk.subarray(from, end)
      if (keptBytes + rest.length > bytesMax) throw tooLong(number, bytesMax)
      yield kept.length === 0 ? rest : Buffer.concat([...kept, rest])
      kept = []
      keptBytes = 0
      from = end + 1
      number += 1
    }
    kept.push(chunk.subarray(from))
    keptBytes += chunk.length - from
    if (keptBytes > bytesMax) throw tooLong(number, bytesMax)
  }
  if (keptBytes > 0) yield Buffer.concat(kept)
}

function tooLong(number: number, bytesMax: number): RestRefusal {
  return wrongLine(number, `tem mais de ${bytesMax} bytes`)
}
