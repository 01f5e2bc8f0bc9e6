import { useQueryClient } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { useToast } from '../../components/Toast.tsx'
import { formText } from '../../lib/form-text.ts'
import { shieldQuery, type Shield } from './shield-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

const ACTIONS = perLanguage((): Readonly<Record<Shield['action'], string>> => ({
  off: t('Desligada: os textos vão como estão'),
  mask: t('Mascarar: os dados viram marcadores e voltam na resposta'),
  block: t('Bloquear: chamadas com dados pessoais são recusadas'),
}))
const UUIDS = perLanguage((): Readonly<Record<Shield['uuids'], string>> => ({
  near_pix: t('Só quando o texto fala de Pix ao lado'),
  always: t('Sempre: todo UUID conta como chave Pix'),
}))

export function ShieldForm({ shield }: { readonly shield: Shield }) {
  const queries = useQueryClient()
  const toast = useToast()
  const save = useSubmit({
    mutationFn: (body: Shield) => api.put('/me/shield', body),
    onSuccess(saved) {
      queries.setQueryData(shieldQuery.queryKey, saved)
      toast(t('Proteção salva.'))
    },
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    save.mutate({
      action: formText(fields, 'action') as Shield['action'],
      uuids: formText(fields, 'uuids') as Shield['uuids'],
    })
  }
  return (
    <form onSubmit={submit} className="grid gap-5">
      <Field
        label={t('O que fazer com dados pessoais')}
        hint={t('Vale para as chaves sem proteção própria.')}
      >
        {(control) => (
          <Select {...control} name="action" defaultValue={shield.action}>
            {Object.entries(ACTIONS()).map(([action, text]) => (
              <option key={action} value={action}>
                {text}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label={t('Chaves Pix aleatórias')}
        hint={t('Uma chave aleatória é um UUID, como muitos códigos.')}
      >
        {(control) => (
          <Select {...control} name="uuids" defaultValue={shield.uuids}>
            {Object.entries(UUIDS()).map(([choice, text]) => (
              <option key={choice} value={choice}>
                {text}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {save.error && (
        <Notice tone="danger" role="alert">
          {explainError(save.error)}
        </Notice>
      )}
      <Button type="submit" className="justify-self-start" isBusy={save.isPending}>
        {t('Salvar proteção')}
      </Button>
    </form>
  )
}
