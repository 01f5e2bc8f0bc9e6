/**
 * Part of `npm run web:pictures`: walks the story of a visitor at the pace of a person, and writes its part of
 * `docs/tour.md`, with a picture of each step.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGatewayProcess } from '../harness/gateway-process.ts'
import { settled, startBrowser } from './browser.ts'
import { IMAGES, savePicture } from './save-picture.ts'
import { STORY } from './story-of-nina.ts'
import { walkVisitorStory, type Pace, type StoryStep } from './visitor-story.ts'

const PAGE = join(import.meta.dirname, '../../docs/tour.md')
const [BEGIN, END] = [
  '<!-- story: written by `npm run web:pictures` -->',
  '<!-- end of the story -->',
]
/** A person who types 80 words a minute. */
const PACE: Pace = { keyMs: 150, clickMs: 700 }
/** The answer is the last thing that these steps show. */
const STEPS_TO_THE_ANSWER = 4

test('the story of a visitor, a picture for each step', async () => {
  const gateway = await startGatewayProcess({ TRIAL_CREDIT_BRL: '7' })
  const { origin } = new URL(gateway.node.baseUrl)
  const [browser, other] = [await startBrowser(origin), await startBrowser(origin)]
  try {
    await mkdir(IMAGES, { recursive: true })
    const steps = await walkVisitorStory({
      ...STORY,
      visitor: await browser.newPage(),
      stranger: await other.newPage(),
      pace: PACE,
      async onStep(page, place) {
        await settled(page)
        await savePicture(page, nameOf(place))
      },
    })
    const page = await readFile(PAGE, 'utf8')
    const [before = ''] = page.split(BEGIN)
    const [, after = ''] = page.split(END)
    await writeFile(PAGE, [before, BEGIN, '\n\n', render(steps), '\n\n', END, after].join(''))
  } finally {
    for (const each of [browser, other]) await each.close()
    await gateway.stop()
  }
})

function nameOf(place: number): string {
  return `historia-${place}`
}

function render(steps: readonly StoryStep[]): string {
  const rows = steps.map((step, place) => row(`${place + 1}. ${step.name}`, [step]))
  return `The seconds are those of a person (${PACE.keyMs} ms for a key, ${PACE.clickMs} ms to find what to click), without reading and the way of the mail. A link followed in a mail is a click, and so is Enter. \`test/web/visitor-story.browser.ts\` fails when it takes more clicks or fields.

| step | clicks | fields | seconds |
| --- | --- | --- | --- |
${rows.join('\n')}
${row('**up to the first answer**', steps.slice(0, STEPS_TO_THE_ANSWER))}
${row('**all**', steps)}

${steps.map((step, place) => picture(step, place + 1)).join('\n\n')}`
}

function row(name: string, steps: readonly StoryStep[]): string {
  const sum = (figure: 'clicks' | 'fields' | 'seconds'): number =>
    steps.reduce((total, step) => total + step[figure], 0)
  return `| ${name} | ${sum('clicks')} | ${sum('fields')} | ${sum('seconds').toFixed(1)} |`
}

function picture({ name }: StoryStep, place: number): string {
  return `<img src="images/${nameOf(place)}.webp" width="640" alt="${place}. ${name}">`
}
