/** The way in for every customer: sign-up, the link in the mail, home. */
import { OPERATOR_TOKEN } from '../harness/ask.ts'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import type { Database } from '../../src/platform/db/open.ts'
import type { BrowserUnderTest } from './browser.ts'

const MAIL_MS_MAX = 60_000

export interface Person {
  readonly name: string
  readonly email: string
  readonly password: string
}

export async function signUp(page: Page, { name, email, password }: Person): Promise<void> {
  await page.goto('/cadastrar')
  await page.getByLabel('Nome', { exact: true }).fill(name)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Senha').fill(password)
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Criar conta' }).click()
  await page.getByRole('heading', { name: 'Confira seu e-mail' }).waitFor()
}

/**
 * Waits for a mail to that address that has a link to `path`, and follows the link of the newest. Mails that were due at once
 * are sent in any order, so another mail may be newer.
 */
export async function followMail(page: Page, email: string, path: string): Promise<void> {
  const mails = page.getByRole('listitem').filter({ hasText: email }).getByRole('link')
  const link = page.locator(`pre a[href*="${path}"]`).first()
  for (const deadline = Date.now() + MAIL_MS_MAX; Date.now() < deadline;) {
    await page.goto(`/mailbox?token=${OPERATOR_TOKEN}`)
    const paths = await Promise.all((await mails.all()).map((mail) => mail.getAttribute('href')))
    for (const mail of paths) {
      await page.goto(mail ?? '')
      await page.getByRole('heading', { name: 'Texto' }).waitFor()
      const href = (await link.count()) > 0 ? await link.getAttribute('href') : null
      if (href !== null) return void (await page.goto(href))
    }
    await page.waitForTimeout(200)
  }
  throw new Error(`no mail to ${email} led to ${path}`)
}

/** Signs up a customer and opens home; every tab of this browser is then signed in. */
export async function enterAs(browser: BrowserUnderTest, person: Person): Promise<void> {
  const page = await browser.newPage()
  await signUp(page, person)
  await confirmEmail(page, person)
  await page.close()
}

/** As one who also showed a second factor, which operators need. */
export async function enterAsOperator(
  browser: BrowserUnderTest,
  person: Person,
  db: Database,
): Promise<void> {
  await enterAs(browser, person)
  await sql`
    update sign_in_sessions set factor_at = now()
    where user_id = (select id from sign_in_users where email = ${person.email})`.execute(db)
}

export async function confirmEmail(page: Page, { email, password }: Person): Promise<void> {
  await followMail(page, email, '/auth/confirm')
  await page.getByLabel('Senha').fill(password)
  await page.getByRole('button', { name: 'Confirmar e entrar' }).click()
  await page.getByRole('heading', { name: 'E-mail confirmado', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Começar' }).click()
  await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
}
