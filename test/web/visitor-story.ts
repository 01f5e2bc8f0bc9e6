/**
 * The way of a visitor who pays nothing: from the landing page to a bill that somebody else checks. Each step counts
 * what it asks of a person. A link followed in a mail is a click, and so is Enter.
 */
import type { Locator, Page } from 'playwright-core'
import { followMail, type Person } from './sign-up.ts'

export interface StoryStep {
  readonly name: string
  readonly clicks: number
  readonly fields: number
  /** Without the time of `onStep`. */
  readonly seconds: number
}

/** How long a person takes for a key, and to find what to click; a test does not wait. */
export interface Pace {
  readonly keyMs: number
  readonly clickMs: number
}

export interface Story {
  readonly visitor: Page
  /** A page of another browser, whose user gets the link of the bill. */
  readonly stranger: Page
  readonly person: Person
  readonly taxId: string
  readonly question: string
  readonly pace?: Pace
  /** With the page as the step leaves it; `place` counts from 1. */
  readonly onStep: (page: Page, place: number) => Promise<void>
}

export async function walkVisitorStory(story: Story): Promise<readonly StoryStep[]> {
  const { visitor, stranger, person } = story
  const steps: StoryStep[] = []
  let bill = ''
  const walk: [name: string, page: Page, act: (hand: Hand) => Promise<void>][] = [
    ['the landing page', visitor, () => land(visitor)],
    ['an account', visitor, (hand) => openAccount(visitor, hand, person)],
    ['the trial credit', visitor, (hand) => takeTrialCredit(visitor, hand, story.taxId)],
    ['the first answer', visitor, (hand) => ask(visitor, hand, story.question)],
    ['its bill', visitor, (hand) => readBill(visitor, hand)],
    [
      'a public link to it',
      visitor,
      async (hand) => {
        bill = await shareBill(visitor, hand)
      },
    ],
    ['a stranger checks it', stranger, (hand) => checkBill(stranger, hand, bill)],
  ]
  for (const [name, page, act] of walk) {
    const hand = createHand(story.pace ?? { keyMs: 0, clickMs: 0 })
    const start = performance.now()
    await act(hand)
    const seconds = (performance.now() - start) / 1_000
    steps.push({ name, ...hand.counts(), seconds })
    await story.onStep(page, steps.length)
  }
  return steps
}

interface Hand {
  click(what: Locator): Promise<void>
  type(what: Locator, text: string): Promise<void>
  /** For Enter, and for links that are opened outside of the page. */
  countClick(): Promise<void>
  counts(): { clicks: number; fields: number }
}

function createHand({ keyMs, clickMs }: Pace): Hand {
  let clicks = 0
  let fields = 0
  const countClick = async (): Promise<void> => {
    clicks += 1
    if (clickMs > 0) await new Promise((resolve) => setTimeout(resolve, clickMs))
  }
  return {
    countClick,
    counts: () => ({ clicks, fields }),
    async click(what) {
      await what.waitFor()
      await countClick()
      await what.click()
    },
    async type(what, text) {
      fields += 1
      await what.pressSequentially(text, { delay: keyMs })
    },
  }
}

async function land(page: Page): Promise<void> {
  await page.goto('/')
  await page.getByRole('heading', { name: 'Modelos de IA pagos em reais, por Pix' }).waitFor()
}

async function openAccount(page: Page, hand: Hand, person: Person): Promise<void> {
  await hand.click(page.getByRole('link', { name: 'Criar conta' }).first())
  await hand.type(page.getByLabel('Nome', { exact: true }), person.name)
  await hand.type(page.getByLabel('E-mail'), person.email)
  await hand.type(page.getByLabel('Senha'), person.password)
  await hand.click(page.getByRole('checkbox'))
  await hand.click(page.getByRole('button', { name: 'Criar conta' }))
  await page.getByRole('heading', { name: 'Confira seu e-mail' }).waitFor()
  await hand.countClick()
  await followMail(page, person.email, '/auth/confirm')
  await hand.type(page.getByLabel('Senha'), person.password)
  await hand.click(page.getByRole('button', { name: 'Confirmar e entrar' }))
  await hand.click(page.getByRole('link', { name: 'Começar' }))
  await page.getByText('0 de 3 passos feitos').waitFor()
  await page.getByLabel('CPF ou CNPJ').waitFor()
}

async function takeTrialCredit(page: Page, hand: Hand, taxId: string): Promise<void> {
  await hand.type(page.getByLabel('CPF ou CNPJ'), taxId)
  await hand.click(page.getByRole('button', { name: /^Ganhar R\$/ }))
  await page.getByText('1 de 3 passos feitos').waitFor()
  await page.getByRole('region', { name: 'Saldo' }).getByText('R$ 7,00').waitFor()
}

async function ask(page: Page, hand: Hand, question: string): Promise<void> {
  await hand.click(page.getByRole('link', { name: 'Antes, experimentar no playground' }))
  await hand.click(page.getByRole('button', { name: 'Começar com uma chave nova' }))
  const field = page.getByLabel('Mensagem', { exact: true })
  await hand.type(field, question)
  await hand.countClick()
  await field.press('Enter')
  await page.getByText(/1º token em .* ao todo/).waitFor()
}

async function readBill(page: Page, hand: Hand): Promise<void> {
  await hand.click(page.getByRole('navigation').getByRole('link', { name: 'Uso', exact: true }))
  await hand.click(page.getByRole('button', { name: /Ver a cobrança de sandbox-chat/ }))
  const bill = page.getByRole('region', { name: 'Como chegamos a este valor' })
  await bill.getByText('o resultado é exatamente o valor cobrado').waitFor()
  await bill.scrollIntoViewIfNeeded()
}

/** Returns the address of the bill. */
async function shareBill(page: Page, hand: Hand): Promise<string> {
  await hand.click(page.getByRole('button', { name: 'Compartilhar esta cobrança' }))
  const shown = page.getByRole('status', { name: 'Cobrança pública' })
  await shown.waitFor()
  await shown.scrollIntoViewIfNeeded()
  return (await shown.locator('code').textContent()) ?? ''
}

/** The charge is of today: it enters the public ledger when the day is over. */
async function checkBill(page: Page, hand: Hand, url: string): Promise<void> {
  await hand.countClick()
  await page.goto(url)
  await page.getByText('O cálculo fecha. A cobrança entra no livro público').waitFor()
}
