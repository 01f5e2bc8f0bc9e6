/** Signs in the customer of the history by a mailed link, as any customer does. Returns the cookies of the login session. */
import type { Browser } from 'playwright-core'
import { LINK_PATH } from '../../src/identity/sign-in/sign-in-terms.ts'
import { followMail } from '../../test/web/sign-up.ts'
import type { Visitor } from './load-page.ts'

export async function enterDashboard(
  browser: Browser,
  origin: string,
  email: string,
): Promise<Visitor> {
  const context = await browser.newContext({ baseURL: origin, locale: 'pt-BR' })
  try {
    const page = await context.newPage()
    await page.goto('/entrar')
    await page.getByLabel('E-mail').fill(email)
    await page.getByRole('button', { name: 'Receber um link por e-mail' }).click()
    await page.getByRole('heading', { name: 'Confira seu e-mail' }).waitFor()
    await followMail(page, email, LINK_PATH)
    await page.getByRole('button', { name: 'Entrar' }).click()
    // The customer of the history has no sign-up, where the terms are accepted.
    await page.getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Aceitar e continuar' }).click()
    await page.getByRole('heading', { name: 'Início', level: 1 }).waitFor()
    return { origin, cookies: await context.cookies() }
  } finally {
    await context.close()
  }
}
