import { Checkbox } from './Checkbox.tsx'
import { t } from '../language/t.ts'
import { Trans } from '../language/Trans.tsx'

const LINK = 'font-semibold text-accent underline underline-offset-4'

interface TermsCheckboxProps {
  readonly isChecked: boolean
  readonly error: string | undefined
  readonly onChange: (isChecked: boolean) => void
}

/** The consent that the server stores, with the declaration that the ECA Digital asks for. */
export function TermsCheckbox({ isChecked, error, onChange }: TermsCheckboxProps) {
  return (
    <div>
      <Checkbox
        id="termos"
        checked={isChecked}
        aria-invalid={error === undefined ? undefined : true}
        onChange={(event) => onChange(event.target.checked)}
        label={
          <span>
            <Trans
              id="Li e aceito os {link} e a {link2}. Tenho 18 anos ou mais, ou contrato em nome de uma empresa."
              values={{
                link: (
                  <a href="/termos" target="_blank" className={LINK}>
                    {t('termos de uso')}
                  </a>
                ),
                link2: (
                  <a href="/privacidade" target="_blank" className={LINK}>
                    {t('política de privacidade')}
                  </a>
                ),
              }}
            />
          </span>
        }
        hint={t(
          'O conteúdo das chamadas é enviado ao provedor do modelo, que pode ficar fora do Brasil.',
        )}
      />
      {error !== undefined && (
        <p role="alert" className="pl-8 text-sm text-danger">
          {error}
        </p>
      )}
    </div>
  )
}
