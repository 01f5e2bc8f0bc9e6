import type { Page } from 'playwright-core'

/** Pays on the sandbox's page, in the tab that the link opens. */
export async function payPix(page: Page): Promise<void> {
  const [bank] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Abrir a página de pagamento' }).click(),
  ])
  await bank.getByRole('button', { name: 'Pagar (simulação)' }).click()
  // Also because Chromium sometimes never closes a tab that is still navigating.
  await bank.getByText('Pagamento recebido').waitFor()
  await bank.close()
}
