/** The first minutes of a visitor who pays nothing: account, trial credit, first answer, its bill, and a stranger's check of it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startBrowser, type BrowserUnderTest } from './browser.ts'
import { lookAt } from './look-at.ts'
import { STORY } from './story-of-nina.ts'
import { walkVisitorStory, type StoryStep } from './visitor-story.ts'

/** Without the trial credit it was 18 clicks and 7 fields to the first answer. */
const TO_THE_ANSWER = { steps: 4, clicks: 10, fields: 6 }
const TO_THE_END = { steps: 7, clicks: 14, fields: 6 }

let gateway: GatewayProcess
let browser: BrowserUnderTest
let other: BrowserUnderTest

before(async () => {
  gateway = await startGatewayProcess({ TRIAL_CREDIT_BRL: '7' })
  const { origin } = new URL(gateway.node.baseUrl)
  browser = await startBrowser(origin)
  other = await startBrowser(origin)
})
after(async () => {
  await browser?.close()
  await other?.close()
  await gateway?.stop()
})

test('a visitor gets an account, the trial credit, an answer, its bill and a link to it, in few clicks and fields', async () => {
  const visitor = await browser.newPage()
  const stranger = await other.newPage()
  const onStep = async (page: typeof visitor, place: number): Promise<void> =>
    lookAt(page, `historia-${place}`)
  const steps = await walkVisitorStory({ ...STORY, visitor, stranger, onStep })
  for (const { name, clicks, fields, seconds } of steps)
    process.stdout.write(`${name}: ${clicks} clicks, ${fields} fields, ${Math.round(seconds)} s\n`)
  for (const most of [TO_THE_ANSWER, TO_THE_END]) {
    const asked = sumOf(steps.slice(0, most.steps))
    assert.ok(asked.clicks <= most.clicks, `${asked.clicks} clicks in ${most.steps} steps`)
    assert.ok(asked.fields <= most.fields, `${asked.fields} fields in ${most.steps} steps`)
  }
  assert.equal(steps.length, TO_THE_END.steps)
  assert.deepEqual([...browser.faults, ...other.faults], [])
  await assertAudit(gateway.database)
})

function sumOf(steps: readonly StoryStep[]): { clicks: number; fields: number } {
  return {
    clicks: steps.reduce((sum, { clicks }) => sum + clicks, 0),
    fields: steps.reduce((sum, { fields }) => sum + fields, 0),
  }
}
