import { useId, useState } from 'react'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import { wholeNumber } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import { SETTINGS_AT_FIRST } from './chat-settings.ts'
import { ToolsField } from './ToolsField.tsx'
import type { PlaygroundView } from './use-playground.ts'
import { t } from '../../language/t.ts'
import { language } from '../../language/language.ts'

/** The request's settings apart from model and messages. */
export function SettingsFields({ view }: { readonly view: PlaygroundView }) {
  const { playground, settings, lanes } = view
  const models = lanes.flatMap(({ model }) => (model?.category === 'llm' ? [model] : []))
  const noTools = models.find(({ price }) => price?.supports_tools === false)
  const limits = models.flatMap(({ price }) => price?.output_tokens_max ?? [])
  const [resets, setResets] = useState(0)
  return (
    <div className="grid gap-5">
      <Field
        label={t('Mensagem de sistema')}
        hint={t('Diz ao modelo quem ele é e como responder.')}
      >
        {(control) => (
          <TextArea
            {...control}
            rows={3}
            className="max-h-60"
            placeholder={t('Você é um atendente gentil e direto…')}
            value={settings.system}
            onChange={(event) => playground.set({ system: event.target.value })}
          />
        )}
      </Field>
      <Slider
        label={t('Temperatura')}
        hint={t('Quanto mais alta, mais variada a resposta.')}
        max={2}
        step={0.1}
        atFirst={1}
        value={settings.temperature}
        onChange={(temperature) => playground.set({ temperature })}
      />
      <Slider
        label={t('Top P')}
        hint={t('Ajuste este valor ou a temperatura, não os dois.')}
        max={1}
        step={0.05}
        atFirst={1}
        value={settings.topP}
        onChange={(topP) => playground.set({ topP })}
      />
      <TokensField
        key={resets}
        value={settings.maxTokens}
        most={limits.length === 0 ? undefined : Math.min(...limits)}
        onChange={(maxTokens) => playground.set({ maxTokens })}
      />
      <Checkbox
        label={t('Responder em JSON')}
        hint={t('Diga na mensagem que quer JSON, e com quais campos.')}
        checked={settings.isJson}
        onChange={(event) => playground.set({ isJson: event.target.checked })}
      />
      <ToolsField
        value={settings.tools}
        isRefusedBy={noTools?.display_name}
        onChange={(tools) => playground.set({ tools })}
      />
      <button
        type="button"
        className="min-h-11 justify-self-start text-sm font-medium text-accent underline underline-offset-4 md:min-h-8"
        onClick={() => {
          playground.set(SETTINGS_AT_FIRST)
          setResets(resets + 1)
        }}
      >
        {t('Voltar ao padrão')}
      </button>
    </div>
  )
}

interface SliderProps {
  readonly label: string
  readonly hint: string
  readonly max: number
  readonly step: number
  /** The slider's position while the model's default applies. */
  readonly atFirst: number
  readonly value: number | null
  readonly onChange: (value: number | null) => void
}

/**
 * Styled by us, because the browser's own track is nearly white in dark mode. The thumb has the text colour.
 */
const SLIDER_CLASS =
  'block h-8 w-full cursor-pointer appearance-none bg-transparent [&::-moz-range-thumb]:size-5 [&::-moz-range-thumb]:rounded-full [&::-moz-range-thumb]:border-0 [&::-moz-range-thumb]:bg-current [&::-moz-range-track]:h-1.5 [&::-moz-range-track]:rounded-full [&::-moz-range-track]:bg-line [&::-webkit-slider-runnable-track]:h-1.5 [&::-webkit-slider-runnable-track]:rounded-full [&::-webkit-slider-runnable-track]:bg-line [&::-webkit-slider-thumb]:-mt-[7px] [&::-webkit-slider-thumb]:size-5 [&::-webkit-slider-thumb]:appearance-none [&::-webkit-slider-thumb]:rounded-full [&::-webkit-slider-thumb]:bg-current'

function Slider({ label, hint, max, step, atFirst, value, onChange }: SliderProps) {
  const id = useId()
  const text = value === null ? t('padrão do modelo') : value.toLocaleString(language())
  return (
    <div>
      <div className="flex min-h-6 items-baseline justify-between gap-3 text-sm">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        <span className="flex items-baseline gap-2 text-muted tabular-nums">
          {text}
          {value !== null && (
            <button
              type="button"
              aria-label={t('{label}: usar o padrão do modelo', { label })}
              className="min-h-6 font-medium text-accent underline underline-offset-4"
              onClick={() => onChange(null)}
            >
              {t('tirar')}
            </button>
          )}
        </span>
      </div>
      <input
        id={id}
        type="range"
        min={0}
        max={max}
        step={step}
        value={value ?? atFirst}
        aria-valuetext={text}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(Number(event.target.value))}
        className={classNames(SLIDER_CLASS, value === null ? 'text-line-strong' : 'text-accent')}
      />
      <p id={`${id}-hint`} className="text-xs text-muted">
        {hint}
      </p>
    </div>
  )
}

interface TokensProps {
  readonly value: number | null
  readonly most: number | undefined
  readonly onChange: (value: number | null) => void
}

function TokensField({ value, most, onChange }: TokensProps) {
  const [text, setText] = useState(value === null ? '' : String(value))
  const bare = text.replaceAll(/[.\s]/g, '')
  const isSound = bare === '' || (/^[1-9]\d{0,8}$/.test(bare) && Number(bare) <= (most ?? Infinity))
  return (
    <Field
      label={t('Máximo de tokens')}
      hint={t('Vazio: o modelo decide{word}.', {
        word: most === undefined ? '' : t(', até {most}', { most: wholeNumber(most) }),
      })}
      error={
        !isSound &&
        t('Digite um número inteiro a partir de 1{word}.', {
          word: most === undefined ? '' : t(' e até {most}', { most: wholeNumber(most) }),
        })
      }
    >
      {(control) => (
        <Input
          {...control}
          inputMode="numeric"
          autoComplete="off"
          maxLength={12}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            const typed = event.target.value.replaceAll(/[.\s]/g, '')
            onChange(/^[1-9]\d{0,8}$/.test(typed) ? Number(typed) : null)
          }}
        />
      )}
    </Field>
  )
}
