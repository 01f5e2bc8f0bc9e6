/** The catalog of a signed-in customer: a line for each model, and a page with its price, measures and code. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { LATENCY_BUCKETS } from '../../src/platform/lib/latency-buckets.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import {
  assertAccessible,
  assertFits,
  settled,
  startBrowser,
  type BrowserUnderTest,
} from './browser.ts'
import { fund } from './fund.ts'
import { lookAt } from './look-at.ts'
import { enterAs } from './sign-up.ts'

const CAIO = { name: 'Caio Reis', email: 'caio@exemplo.com.br', password: 'uma frase bem comprida' }
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
  { width: 320, height: 700 },
]

let gateway: GatewayProcess
let browser: BrowserUnderTest
let secret: string

before(async () => {
  gateway = await startGatewayProcess()
  browser = await startBrowser(new URL(gateway.node.baseUrl).origin)
  await enterAs(browser, CAIO)
  ;({ secret } = await fund(gateway.database.db, CAIO.email))
  // Google answers sooner, and OpenAI more often. Nobody was asked for a model of Mistral.
  await measure('google', 60, { failed: 40, bucket: 20 })
  await measure('openai', 100, { failed: 0, bucket: 60 })
  await measureModel('gpt-4o', { days: [0, 1, 2, 5], firstByte: 60, pace: 52 })
  await measureModel('gpt-4o-mini', { days: [3], firstByte: 70, pace: 55 })
})
after(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function measure(
  vendor: string,
  ok: number,
  { failed, bucket }: { failed: number; bucket: number },
): Promise<void> {
  const counts = Array.from({ length: LATENCY_BUCKETS }, (_, at) => (at === bucket ? ok : 0))
  await sql`
    insert into upstream_health_hours (hour_at, upstream_id, vendor, ok_count, failed_count, latency_counts)
    values (now() - interval '30 hours', 'secreto', ${vendor}, ${ok}, ${failed}, ${counts})`.execute(
    gateway.database.db,
  )
}

/** Twenty answers of three customers on each of the days before today. */
async function measureModel(
  id: string,
  { days, firstByte, pace }: { days: readonly number[]; firstByte: number; pace: number },
): Promise<void> {
  const countsAt = (at: number) =>
    Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => (bucket === at ? 20 : 0))
  await sql`
    insert into model_speed_days
    select ${id}, (now() at time zone 'America/Sao_Paulo')::date - ago, now() - interval '1 day',
      ${countsAt(firstByte)}::int8[], 7, ${countsAt(pace)}::int8[], 7
    from unnest(${[...days]}::int[]) as ago`.execute(gateway.database.db)
}

test('a model is one line with its prices and measures, and every width fits', async () => {
  const page = await browser.newPage()
  for (const size of SIZES) {
    await page.setViewportSize(size)
    await page.goto('/modelos')
    await page.getByRole('row').nth(20).waitFor()
    await settled(page)
    await assertFits(page, `${size.width}`)
    if (size.width < 1_024) continue
    const heights = await page.evaluate<number[]>(
      "[...new Set([...document.querySelectorAll('main tbody tr')].map((row) => Math.round(row.getBoundingClientRect().height)))]",
    )
    assert.ok(
      heights.every((height) => height <= 46),
      heights.join(' '),
    )
  }
  await page.setViewportSize(SIZES[0] as (typeof SIZES)[0])
  const row = page.getByRole('row', { name: /^.*GPT-4o (vai sair do ar|encerrado) gpt-4o Copiar/ })
  assert.match((await row.textContent()) ?? '', /R\$\s16,25R\$\s65,000,2 s102100%$/)
  const unmeasured = page.getByRole('row', { name: /Mistral/ }).first()
  assert.match((await unmeasured.textContent()) ?? '', /–––$/)
  await page.getByText('tokens por segundo: medidos por modelo, em 30 dias').waitFor()
  await page.close()
})

test('models are filtered by what they can do, and sorted by price, speed and uptime, in the address', async () => {
  const { prices } = (await ask(gateway.node.baseUrl, '/model-prices')).json as {
    prices: { category: string; supports_tools: boolean; supports_images: boolean }[]
  }
  const wanted = prices.filter(
    (price) => price.category === 'llm' && price.supports_tools && price.supports_images,
  ).length
  const page = await browser.newPage()
  await page.goto('/modelos')
  for (const ability of [/^Usa ferramentas/, /^Lê imagens/])
    await page.getByRole('button', { name: ability }).click()
  await page.getByText(new RegExp(`^${wanted} modelos`)).waitFor()
  await page.reload()
  await page.getByText(new RegExp(`^${wanted} modelos`)).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('faz'), 'ferramentas imagens')
  await page.getByRole('button', { name: /^Usa ferramentas/, pressed: true }).click()
  assert.equal(new URL(page.url()).searchParams.get('faz'), 'imagens')

  const first = page.getByRole('row').nth(1)
  await page.goto('/modelos?categoria=llm&ordem=velocidade')
  await first.getByText('Google').waitFor({ state: 'attached' })
  await page.getByLabel('Ordem').selectOption('vazao')
  await first.getByText('GPT-4o mini', { exact: true }).waitFor()
  await page.getByRole('row').nth(2).getByText('GPT-4o', { exact: true }).waitFor()
  await page.getByLabel('Ordem').selectOption('disponibilidade')
  await first.getByText('OpenAI').waitFor({ state: 'attached' })
  await page.getByLabel('Ordem').selectOption('preco')
  const cells = page.locator('main tbody tr td:nth-of-type(4)')
  const amounts = (await cells.allTextContents()).map((text) =>
    Number(text.replace(/[^\d,]/g, '').replace(',', '.')),
  )
  assert.ok((amounts[0] ?? 1) < (amounts[40] ?? 0), amounts.join(' '))
  await lookAt(page, 'modelos-filtrados')
  await page.close()
})

test('the page of a model has every price in words, what was measured, and code to copy', async () => {
  const page = await browser.newPage()
  await page.goto('/modelos?busca=gpt-4o')
  await page.getByRole('link', { name: 'GPT-4o', exact: true }).click()
  await page.getByRole('heading', { name: 'GPT-4o', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/modelos/gpt-4o')
  await page.getByText(/14 de janeiro de 2027\. Substituto: GPT-6 Luna\.$/).waitFor()
  const price = page.getByRole('region', { name: 'Preço de agora' })
  assert.match(
    (await price.textContent()) ?? '',
    /Tokens de entradaR\$\s16,25 por milhão.*Tokens de saídaR\$\s65,00 por milhão/,
  )
  const measures = page.getByRole('region', { name: 'Disponibilidade e latência' })
  await measures.getByText('Medidas por fabricante (OpenAI)').waitFor()
  assert.match((await measures.textContent()) ?? '', /Chamadas com resposta100%.*medidas100$/)
  const speed = page.getByRole('region', { name: 'Rapidez' })
  await speed.getByText('nos últimos 30 dias').waitFor()
  for (const [name, median] of [
    ['Tempo até o 1º byte', '0,2 s'],
    ['Tokens por segundo', '102'],
  ] as const) {
    const chart = speed.getByRole('img', { name: `${name}: mediana de ${median}` })
    assert.equal(await chart.locator('rect.fill-accent').count(), 4, name)
    assert.match((await chart.locator('rect').last().textContent()) ?? '', new RegExp(median))
  }
  const own = page.getByRole('region', { name: 'Nas suas chamadas' })
  await own.getByText('nada foi medido').waitFor()

  for (let made = 0; made < 3; made += 1)
    await askChat(gateway.node.baseUrl, secret, { ...sound('gpt-4o'), stream: true })
  await page.reload()
  await own.getByRole('img', { name: /^Tempo até o 1º byte: mediana de \d/ }).waitFor()
  await own.getByText('3 de 3 chamadas tiveram resposta.').waitFor()

  const code = page.getByRole('region', { name: 'Código' })
  await code.getByRole('button', { name: 'Copiar curl' }).click()
  const copied = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.match(copied, /\/v1\/chat\/completions[^]*SUA_CHAVE[^]*"model":"gpt-4o"/)
  await lookAt(page, 'modelo')
  for (const size of SIZES) {
    await page.setViewportSize(size)
    await assertFits(page, `${size.width}`)
    await assertAccessible(page, `${size.width}`)
  }
  await page.getByRole('link', { name: 'página pública do modelo' }).click()
  await page.getByRole('heading', { name: 'Histórico do preço' }).waitFor()
  await page.close()
})

test('a model that nobody has asked, of another kind, or unknown has a page that says so', async () => {
  const page = await browser.newPage()
  await page.goto('/modelos/sandbox-speech')
  await page.getByText('Nenhuma chamada a este fabricante foi medida ainda.').waitFor()
  await page.getByText(/^R\$\s[\d,]+ por milhão de caracteres falados$/).waitFor()
  await page.getByRole('region', { name: 'Código' }).getByText('/v1/audio/speech').waitFor()
  assert.equal(await page.getByRole('region', { name: 'Rapidez' }).count(), 0)
  await page.goto('/modelos/gpt-4.1')
  await page.getByText('Ainda não há respostas o bastante deste modelo').waitFor()
  await page.goto('/modelos/gpt-4o-mini-tts')
  await page.getByRole('region', { name: 'Código' }).getByText('/v1/audio/speech').waitFor()
  await page.goto('/modelos/sandbox-moderation')
  await page.getByRole('region', { name: 'Código' }).getByText('/v1/moderations').waitFor()
  await page.goto('/modelos/sandbox-rerank')
  await page.getByRole('region', { name: 'Código' }).getByText('/v1/rerank').waitFor()
  await assertAccessible(page, 'rerank')
  // Without a rate there is no price to guess from.
  await page.route('**/v1/model-prices', (route) =>
    route.fulfill({ json: { fx_rate: null, prices: [] } }),
  )
  await page.goto('/modelos/sandbox-transcribe')
  await page.getByRole('region', { name: 'Código' }).getByText('/v1/audio/transcriptions').waitFor()
  assert.deepEqual(browser.faults, [])
  await page.close()
})
