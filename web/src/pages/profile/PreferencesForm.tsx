import { useQueryClient } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Field } from '../../components/Field.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { useToast } from '../../components/Toast.tsx'
import { setZone } from '../../format/date.ts'
import { takeLanguage } from '../../language/chosen-language.ts'
import { knownLanguage, SOURCE_LANGUAGE } from '../../language/language.ts'
import { formText } from '../../lib/form-text.ts'
import { preferencesQuery, type Preferences } from './profile-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** One entry for each time zone of Brazil; the browser's list has these and all others. */
const BRAZIL = perLanguage((): readonly (readonly [zone: string, text: string])[] => [
  ['America/Sao_Paulo', t('Brasília (UTC−3)')],
  ['America/Manaus', t('Manaus (UTC−4)')],
  ['America/Cuiaba', t('Cuiabá (UTC−4)')],
  ['America/Rio_Branco', t('Rio Branco (UTC−5)')],
  ['America/Noronha', t('Fernando de Noronha (UTC−2)')],
])

const LANGUAGES: readonly (readonly [locale: string, text: string])[] = [
  ['pt-BR', 'Português (Brasil)'],
  ['en-US', 'English'],
]

export function PreferencesForm({ preferences }: { readonly preferences: Preferences }) {
  const queries = useQueryClient()
  const toast = useToast()
  const save = useSubmit({
    mutationFn: (body: Preferences) => api.put('/me/preferences', body),
    onSuccess(saved) {
      setZone(saved.timezone)
      queries.setQueryData(preferencesQuery.queryKey, saved)
      void takeLanguage(knownLanguage([saved.preferred_locale]) ?? SOURCE_LANGUAGE).catch(() => {})
      toast(t('Preferências salvas.'))
    },
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    save.mutate({
      timezone: formText(fields, 'timezone'),
      preferred_locale: formText(fields, 'locale'),
      weekly_digest_enabled: fields.has('digest'),
      low_balance_email_enabled: fields.has('low_balance'),
      incident_email_enabled: fields.has('incidents'),
      stored_responses_days: Number(formText(fields, 'stored_days')) || null,
    })
  }
  return (
    <form onSubmit={submit} className="grid gap-5">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t('Fuso horário')} hint={t('Dias e meses do consumo são contados nele.')}>
          {(control) => (
            <Select {...control} name="timezone" defaultValue={preferences.timezone}>
              <optgroup label={t('Brasil')}>
                {BRAZIL().map(([zone, text]) => (
                  <option key={zone} value={zone}>
                    {text}
                  </option>
                ))}
              </optgroup>
              <optgroup label={t('Todos')}>
                {otherZones(preferences.timezone).map((zone) => (
                  <option key={zone} value={zone}>
                    {zone.replaceAll('_', ' ')}
                  </option>
                ))}
              </optgroup>
            </Select>
          )}
        </Field>
        <Field label={t('Idioma preferido')} hint={t('Do painel e dos e-mails.')}>
          {(control) => (
            <Select {...control} name="locale" defaultValue={preferences.preferred_locale}>
              {languages(preferences.preferred_locale).map(([locale, text]) => (
                <option key={locale} value={locale}>
                  {text}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Checkbox
        name="digest"
        defaultChecked={preferences.weekly_digest_enabled}
        label={t('Receber o resumo semanal por e-mail')}
        hint={t('Quanto você gastou, em quê, e quanto tempo o saldo dura.')}
      />
      <Checkbox
        name="low_balance"
        defaultChecked={preferences.low_balance_email_enabled}
        label={t('Avisar por e-mail quando o saldo estiver acabando')}
        hint={t('Se o saldo acabar de vez, você recebe um e-mail de qualquer jeito.')}
      />
      <Checkbox
        name="incidents"
        defaultChecked={preferences.incident_email_enabled}
        label={t('Avisar por e-mail de incidentes no serviço')}
        hint={t('Um e-mail quando um incidente começa e outro quando acaba.')}
      />
      <Field
        label={t('Guardar respostas')}
        hint={t(
          'As de POST /v1/responses, cifradas, para ler ou continuar depois pelo id. Ao desligar, as guardadas são apagadas.',
        )}
      >
        {(control) => (
          <Select
            {...control}
            name="stored_days"
            defaultValue={preferences.stored_responses_days ?? 0}
          >
            {storedDays(preferences.stored_responses_days).map((days) => (
              <option key={days} value={days}>
                {days === 0
                  ? t('Não guardar')
                  : days === 1
                    ? t('Por 1 dia')
                    : t('Por {days} dias', { days })}
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
        {t('Salvar preferências')}
      </Button>
    </form>
  )
}

/** Zero: none is stored. Includes the current number, which the API may have set. */
function storedDays(current: number | null): number[] {
  return [...new Set([0, 1, 7, 30, current ?? 0])].sort((one, other) => one - other)
}

/** Includes the current zone, even if this browser does not know it. */
function otherZones(current: string): string[] {
  const brazilian = new Set(BRAZIL().map(([zone]) => zone))
  return [...new Set([...Intl.supportedValuesOf('timeZone'), current])]
    .filter((zone) => !brazilian.has(zone))
    .sort()
}

function languages(current: string): readonly (readonly [string, string])[] {
  return LANGUAGES.some(([locale]) => locale === current)
    ? LANGUAGES
    : [...LANGUAGES, [current, current]]
}
