import type { Page } from 'playwright-core'

/** On the sandbox's page, in the tab that the link opens. */
export async function payPix(page: Page): Promise<void> {
  const [bank] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Abrir a página de pagamento' }).click(),
  ])
  await bank.getByRole('button', { name: 'Pagar (simulação)' }).click()
  // Also because Chromium sometimes never closes a tab that is on its way to a page.
  await bank.getByText('Pagamento recebido').waitFor()
  await bank.close()
}
