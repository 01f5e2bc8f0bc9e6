import { useQueryClient } from '@tanstack/react-query'
import { useRef, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { useToast } from '../../components/Toast.tsx'
import { maskPhone, maskTaxId } from '../../format/masks.ts'
import { AddressFields } from './AddressFields.tsx'
import { bodyOf, faultOf, type PersonInput } from './person-fields.ts'
import { PersonText } from './PersonText.tsx'
import { profileQuery, type Profile } from './profile-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface PersonFormProps {
  readonly profile: Profile | null
  readonly accountName: string | undefined
}

export function PersonForm({ profile, accountName }: PersonFormProps) {
  const queries = useQueryClient()
  const toast = useToast()
  const form = useRef<HTMLFormElement>(null)
  const save = useSubmit({
    mutationFn: (body: PersonInput) => api.put('/me/profile', body),
    onSuccess(saved) {
      queries.setQueryData(profileQuery.queryKey, saved)
      toast(t('Dados salvos.'))
    },
    onError(error) {
      const control = form.current?.elements.namedItem(faultOf(error)?.[0] ?? '')
      if (control instanceof HTMLElement) control.focus()
    },
  })
  const fault = faultOf(save.error)
  const values = { profile, fault }
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    save.mutate(bodyOf(event.currentTarget))
  }

  return (
    <form
      ref={form}
      onSubmit={submit}
      onInput={() => save.isError && save.reset()}
      noValidate
      className="grid gap-5"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <PersonText
          {...values}
          name="full_name"
          label={t('Nome completo ou razão social')}
          fallback={accountName}
          className="sm:col-span-2"
          autoComplete="name"
          maxLength={200}
          required
        />
        <PersonText
          {...values}
          name="cpf_cnpj"
          label={t('CPF ou CNPJ')}
          hint={t('Também o CNPJ com letras.')}
          mask={maskTaxId}
          autoComplete="off"
          spellCheck={false}
          required
        />
        <PersonText
          {...values}
          name="phone"
          label={t('Telefone')}
          mask={maskPhone}
          type="tel"
          autoComplete="tel"
        />
      </div>
      <AddressFields {...values} />
      {save.error && !fault && (
        <Notice tone="danger" role="alert">
          {explainError(save.error)}
        </Notice>
      )}
      <Button type="submit" className="justify-self-start" isBusy={save.isPending}>
        {t('Salvar dados')}
      </Button>
    </form>
  )
}
