import { useState } from 'react'
import { Field } from '../../components/Field.tsx'
import { Disclosure } from '../../components/Disclosure.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import { counted } from '../../format/number.ts'
import { readTools, TOOLS_EXAMPLE } from './tools-text.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly value: string
  /** The name of the chosen model, if it does not support tools. */
  readonly isRefusedBy: string | undefined
  readonly onChange: (text: string) => void
}

export function ToolsField({ value, isRefusedBy, onChange }: Props) {
  const [isOpen] = useState(value !== '')
  const read = readTools(value)
  const count = 'tools' in read ? read.tools.length : 0
  return (
    <Disclosure
      summary={count === 0 ? t('Ferramentas') : counted(count, t('ferramenta'), t('ferramentas'))}
      isOpen={isOpen}
    >
      <div className="grid gap-2 pt-1">
        <Field
          label={t('Ferramentas em JSON')}
          hint={
            isRefusedBy !== undefined && count > 0
              ? t('{isRefusedBy} não usa ferramentas: escolha outro modelo.', { isRefusedBy })
              : t(
                  'A lista “tools” da API. Quando o modelo chamar uma, você escreve o resultado dela.',
                )
          }
          error={'fault' in read && read.fault}
        >
          {(control) => (
            <TextArea
              {...control}
              spellCheck={false}
              autoCapitalize="none"
              autoComplete="off"
              rows={5}
              className="max-h-80 font-mono text-xs!"
              value={value}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
        {value.trim() === '' && (
          <button
            type="button"
            className="min-h-11 justify-self-start font-medium text-accent underline underline-offset-4 md:min-h-8"
            onClick={() => onChange(TOOLS_EXAMPLE)}
          >
            {t('Usar um exemplo')}
          </button>
        )}
      </div>
    </Disclosure>
  )
}
