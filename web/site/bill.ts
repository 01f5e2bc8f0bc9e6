/** The pages of public bills: checks the bill that the page contains, and opens the one whose address is given. */
import { checkBill, type Bill, type Finding } from './check-bill.ts'

const isEnglish = document.documentElement.lang === 'en-US'
/** The text in the language of the page. */
const say = (portuguese: string, english: string): string => (isEnglish ? english : portuguese)

const WORDS: Readonly<Record<Finding, string>> = {
  proved: say(
    'O cálculo fecha, e a cobrança está no livro público.',
    'The math adds up, and the charge is in the public ledger.',
  ),
  waits: say(
    'O cálculo fecha. A cobrança entra no livro público quando o dia terminar (UTC).',
    'The math adds up. The charge enters the public ledger when the day ends (UTC).',
  ),
  unproved: say(
    'O cálculo fecha. A prova está sendo feita: recarregue a página em um momento.',
    'The math adds up. The proof is being made: reload the page in a moment.',
  ),
  wrong_amount: say(
    'O cálculo não fecha: custo vezes câmbio vezes multiplicador dá outro valor.',
    'The math does not add up: cost times rate times multiplier gives another amount.',
  ),
  not_in_seal: say(
    'Esta cobrança não é a que o livro registrou.',
    'This charge is not the one that the ledger recorded.',
  ),
  broken_chain: say(
    'O livro do dia desta cobrança não leva ao selo do dia.',
    'The ledger of this charge’s day does not lead to the seal of the day.',
  ),
  other_head: say(
    'O selo do dia não é mais o que foi publicado.',
    'The seal of the day is no longer the one that was published.',
  ),
}

/** Nothing is wrong, and not all is proved. */
const OPEN: ReadonlySet<Finding> = new Set(['waits', 'unproved'])

const byId = (id: string): HTMLElement | null => document.getElementById(id)

void showFindings()
byId('verificar')?.addEventListener('click', openBill)
byId('endereco')?.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') openBill()
})

async function showFindings(): Promise<void> {
  const [data, result, steps] = [byId('conta'), byId('resultado'), byId('passos')]
  if (!data || !result || !steps) return
  const bill = JSON.parse(data.textContent) as Bill
  try {
    const findings = await checkBill(bill, await readHeads(bill.days.map(({ day }) => day)))
    result.replaceChildren(summaryOf(findings))
    const places = findings.map((finding, place) => ({ finding, place }))
    const shown = places.length === 1 ? [] : places.filter(({ finding }) => finding !== 'proved')
    steps.replaceChildren(
      ...shown.map(({ finding, place }) =>
        item(`${say('Cobrança', 'Charge')} ${place + 1}: ${WORDS[finding]}`),
      ),
    )
  } catch {
    result.textContent = say(
      'Não deu para conferir agora. Recarregue a página em um momento.',
      'We could not verify it right now. Reload the page in a moment.',
    )
  }
}

function summaryOf(findings: readonly Finding[]): HTMLElement {
  const summary = document.createElement('strong')
  const wrong = findings.filter((finding) => !OPEN.has(finding) && finding !== 'proved')
  const [first] = findings
  if (findings.length === 1 && first) summary.textContent = WORDS[first]
  else if (wrong.length > 0)
    summary.textContent = say(
      `Não confere: ${wrong.length} de ${findings.length} cobranças.`,
      `Wrong: ${wrong.length} of ${findings.length} charges.`,
    )
  else if (findings.some((finding) => OPEN.has(finding)))
    summary.textContent = say(
      'Os cálculos fecham. Nem todas as cobranças têm a prova ainda.',
      'The math adds up. Not every charge has its proof yet.',
    )
  else
    summary.textContent = say(
      'Os cálculos fecham, e todas as cobranças estão no livro público.',
      'The math adds up, and all charges are in the public ledger.',
    )
  summary.className = wrong.length > 0 ? 'tag warn' : 'tag'
  return summary
}

/** The published heads of the last year, and of these days. */
async function readHeads(days: readonly string[]): Promise<Map<string, string>> {
  const heads = new Map(await askHeads('limit=366'))
  const older = days.filter((day) => !heads.has(day))
  for (const found of await Promise.all(
    older.map((day) => askHeads(`limit=1&before=${dayAfter(day)}`)),
  ))
    for (const [day, head] of found) heads.set(day, head)
  return heads
}

async function askHeads(query: string): Promise<[day: string, head: string][]> {
  const answer = await fetch(`/v1/charge-chain?${query}`)
  if (!answer.ok) throw new Error(String(answer.status))
  const { days } = (await answer.json()) as { days: { day: string; head: string }[] }
  return days.map(({ day, head }) => [day, head])
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}

function item(text: string): HTMLElement {
  const line = document.createElement('li')
  line.textContent = text
  return line
}

/** Only an address of this server: the token alone is taken from the text. */
function openBill(): void {
  const field = byId('endereco') as HTMLInputElement | null
  const token = /\/conta\/([0-9A-Za-z]{32})(?:$|[/?#])/.exec(field?.value.trim() ?? '')?.[1]
  const notice = byId('aviso')
  if (token) location.assign(`/conta/${token}`)
  else if (notice)
    notice.textContent = say(
      'Isso não é o endereço de uma cobrança: ele termina em /conta/ e 32 letras e números.',
      'That is not the address of a charge: it ends in /conta/ and 32 letters and digits.',
    )
}
