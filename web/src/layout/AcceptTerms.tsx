import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { explainError } from '../api/explain-error.ts'
import { acceptTerms, legalQuery } from '../api/legal.ts'
import { sessionQuery } from '../api/session.ts'
import { Button } from '../components/Button.tsx'
import { Notice } from '../components/Notice.tsx'
import { PageTitle } from '../components/PageTitle.tsx'
import { TermsCheckbox } from '../components/TermsCheckbox.tsx'
import { useSubmit } from '../lib/use-submit.ts'
import { t } from '../language/t.ts'

/** In place of every page until the customer has accepted the version in force. */
export function AcceptTerms() {
  const queryClient = useQueryClient()
  const legal = useQuery(legalQuery)
  const [isChecked, setChecked] = useState(false)
  const [fault, setFault] = useState<string>()
  const accept = useSubmit({
    mutationFn: (version: string) => acceptTerms(version),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    onError: () => queryClient.invalidateQueries({ queryKey: legalQuery.queryKey }),
  })
  const error = legal.error ?? accept.error

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    setFault(isChecked ? undefined : t('Para continuar, aceite os termos.'))
    if (isChecked && legal.data) accept.mutate(legal.data.version)
  }

  return (
    <form onSubmit={submit} noValidate className="mx-auto flex max-w-xl flex-col gap-4">
      <PageTitle
        title={t('Termos de uso')}
        description={t('Antes de continuar, leia e aceite os termos em vigor.')}
      />
      {error && (
        <Notice tone="danger" role="alert">
          {explainError(error)}
        </Notice>
      )}
      <TermsCheckbox isChecked={isChecked} error={fault} onChange={setChecked} />
      <Button type="submit" isBusy={accept.isPending}>
        {t('Aceitar e continuar')}
      </Button>
    </form>
  )
}
