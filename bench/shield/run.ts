/**
 * `npm run bench:shield`: the time that the shield adds to a call, for chats of 4 kB without any document and with
 * some. Prints the median and the 99th percentile of each text, in microseconds; exits 1 when the median of an
 * ordinary text without documents is above the aim.
 */
import { shieldChat } from '../../src/gateway/shield/shield-chat.ts'

const BYTES = 4096
const AIM_US = 50
const WARM_UP = 3000
const ROUNDS = 5000

interface Sample {
  readonly name: string
  readonly piece: string
  /** Whether the aim holds for it. */
  readonly isOrdinary: boolean
}

const SAMPLES: readonly Sample[] = [
  {
    name: 'prose in Portuguese',
    piece:
      'O contrato foi assinado em 23/11/2026, às 14:30, pelo valor de R$ 1.234,56 — em três parcelas iguais. A cliente pediu o envio até o dia 30; o prazo é de 5 a 7 dias úteis, e o frete não é cobrado acima de R$ 200,00. ',
    isOrdinary: true,
  },
  {
    name: 'prose with no-break spaces and dashes',
    piece:
      'O relatório anual – com R$\u00A01.234,56 de saldo – mostra que as vendas crescem\u00A05 % ao ano, segundo a diretoria. ',
    isOrdinary: true,
  },
  {
    name: 'source code',
    piece: `export function total(items: readonly Item[]): number {\n  return items.reduce((sum, { price, count }) => sum + price * count, 0)\n}\n`,
    isOrdinary: true,
  },
  {
    name: 'JSON within a tool result',
    piece: String.raw`{\"id\":\"c1f3\",\"status\":\"paid\",\"total\":129.9,\"items\":[{\"sku\":\"AB-12\",\"qty\":2}]},`,
    isOrdinary: true,
  },
  {
    name: 'table of small numbers',
    piece: '| 12 | 345 | 67,8 | 2026-11-23 | 9.012,34 |\n',
    isOrdinary: false,
  },
  { name: 'numbers between spaces', piece: '1234 567 89 1011 ', isOrdinary: false },
  {
    name: 'list of documents',
    piece: 'Maria, CPF 529.982.247-25, maria@exemplo.com, (11) 98765-4321\n',
    isOrdinary: false,
  },
]

let isMissed = false
for (const { name, piece, isOrdinary } of SAMPLES) {
  const { median, p99 } = measure(piece)
  const isSlow = isOrdinary && median > AIM_US
  isMissed ||= isSlow
  const note = isOrdinary ? ` (aim ${AIM_US}${isSlow ? ', missed' : ''})` : ''
  process.stdout.write(`${name}: ${median.toFixed(1)} us, p99 ${p99.toFixed(1)} us${note}\n`)
}
process.exitCode = isMissed ? 1 : 0

function measure(piece: string): { readonly median: number; readonly p99: number } {
  const times: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    // A new string each time, parsed as a request's body is.
    const content = `${round} ${piece.repeat(Math.ceil(BYTES / piece.length))}`.slice(0, BYTES)
    const body = JSON.parse(
      JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
    ) as Record<string, unknown>
    const startedAt = process.hrtime.bigint()
    shieldChat(body, { action: 'mask', uuids: 'near_pix' })
    const took = Number(process.hrtime.bigint() - startedAt) / 1000
    if (round >= WARM_UP) times.push(took)
  }
  times.sort((one, other) => one - other)
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] as number
  return { median: at(0.5), p99: at(0.99) }
}
