import { ReceiptText } from 'lucide-react'
import { urlOf } from '../../api/client.ts'
import { t } from '../../language/t.ts'

/** The browser opens it with the session's cookie, as a page to print. */
export function ReceiptLink({ id }: { readonly id: string }) {
  return (
    <a
      href={urlOf('/topups/{id}/receipt', { path: { id } })}
      target="_blank"
      rel="noreferrer"
      className="inline-flex min-h-11 items-center gap-1.5 text-sm font-medium text-accent underline underline-offset-4"
    >
      <ReceiptText aria-hidden="true" className="size-4" />
      {t('Recibo')}
      <span className="sr-only">{t('(abre em outra aba)')}</span>
    </a>
  )
}
