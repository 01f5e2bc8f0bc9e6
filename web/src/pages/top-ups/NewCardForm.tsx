import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { useSubmitGate } from '../../lib/use-submit.ts'
import { useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { useToast } from '../../components/Toast.tsx'
import { profileQuery } from '../profile/profile-queries.ts'
import { CardFields } from './CardFields.tsx'
import { cardOf, forgetCard } from './card-fields.ts'
import { explainCardError } from './explain-top-up-error.ts'
import { HolderFields } from './HolderFields.tsx'
import { paymentMethodsQuery } from './top-up-queries.ts'
import { t } from '../../language/t.ts'

/**
 * The fields are uncontrolled: their text is read at submission, and number and security code are cleared when
 * the request ends. No mutation is used, because its cache would keep the card data.
 */
export function NewCardForm({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient()
  const toast = useToast()
  const gate = useSubmitGate()
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<string>()
  const { data: profile, isPending } = useQuery(profileQuery)
  const { data: session } = useQuery(sessionQuery)

  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    if (!gate.begin()) return
    const form = event.currentTarget
    setIsBusy(true)
    setError(undefined)
    try {
      await api.post('/payment-methods', cardOf(form), { once: gate })
      gate.succeed()
      await queries.invalidateQueries({ queryKey: paymentMethodsQuery.queryKey })
      toast(t('Cartão salvo.'))
      onClose()
    } catch (error) {
      gate.fail(error)
      setError(explainCardError(error))
    } finally {
      // The number must be typed again, so its field takes the focus; the error stands above it.
      forgetCard(form)
      setIsBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} className="grid gap-5">
      {error && (
        <Notice tone="danger" role="alert">
          {error}
        </Notice>
      )}
      <CardFields />
      {/* The profile fills the fields once: text that somebody typed before would be lost. */}
      {isPending ? (
        <Skeleton className="h-96 sm:h-76" />
      ) : (
        <HolderFields profile={profile ?? null} email={session?.customer.email ?? ''} />
      )}
      <div className="flex flex-wrap justify-end gap-3">
        <Button variant="secondary" onClick={onClose}>
          {t('Cancelar')}
        </Button>
        <Button type="submit" variant="primary" isBusy={isBusy || isPending}>
          <Lock aria-hidden="true" className="size-4" />
          {t('Salvar cartão')}
        </Button>
      </div>
    </form>
  )
}
