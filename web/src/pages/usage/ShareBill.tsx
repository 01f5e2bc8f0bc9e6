import { ExternalLink, Share2 } from 'lucide-react'
import { api, type Body } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { CopyButton } from '../../components/CopyButton.tsx'
import { useToast } from '../../components/Toast.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

/** Opens a public address of a charge or a session at the customer's wish, and closes it. */
export function ShareBill({ of }: { readonly of: Body<'post', '/me/public-bills'> }) {
  const toast = useToast()
  const opened = useSubmit({
    mutationFn: (_: void, once) => api.post('/me/public-bills', of, { once }),
    onError: (error) => toast(explainError(error), 'danger'),
  })
  const closed = useSubmit({
    mutationFn: (id: string) => api.delete('/me/public-bills/{id}', { path: { id } }),
    onSuccess() {
      opened.reset()
      toast(t('Endereço fechado: ninguém mais vê a cobrança por ele.'))
    },
    onError: (error) => toast(explainError(error), 'danger'),
  })
  const bill = opened.data
  if (!bill)
    return (
      <Button
        variant="secondary"
        // On the narrowest phones, its text is wider than the row that opens.
        className="justify-self-start whitespace-normal!"
        isBusy={opened.isPending}
        onClick={() => opened.mutate()}
        icon={<Share2 aria-hidden="true" className="size-4" />}
      >
        {t('Compartilhar esta cobrança')}
      </Button>
    )
  return (
    <section aria-label={t('Cobrança pública')} className="grid gap-2 text-sm" role="status">
      <p className="text-muted">
        {t(
          'Quem tem este endereço vê modelos, horários, tokens e valores, com a prova de que não mudaram. Seu nome, suas chaves e suas conversas não aparecem.',
        )}
      </p>
      <code className="rounded-lg bg-sunken px-3 py-2.5 break-all select-all">{bill.url}</code>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={bill.url} label={t('Copiar endereço')} />
        <a href={bill.url} target="_blank" rel="noreferrer" className={buttonClass('secondary')}>
          <ExternalLink aria-hidden="true" className="size-4" />
          {t('Abrir a cobrança')}
        </a>
        <Button variant="quiet" isBusy={closed.isPending} onClick={() => closed.mutate(bill.id)}>
          {t('Fechar o endereço')}
        </Button>
      </div>
    </section>
  )
}
