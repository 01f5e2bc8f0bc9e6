import { Monitor, Moon, Sun, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { classNames } from '../lib/class-names.ts'
import { chooseTheme, readTheme, type Theme } from './theme.ts'
import { perLanguage } from '../language/per-language.ts'
import { t } from '../language/t.ts'

const THEMES = perLanguage((): readonly (readonly [Theme, string, LucideIcon])[] => [
  ['system', t('Tema do sistema'), Monitor],
  ['light', t('Tema claro'), Sun],
  ['dark', t('Tema escuro'), Moon],
])

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme)
  return (
    <div role="group" aria-label={t('Tema')} className="inline-flex rounded-lg bg-sunken p-1">
      {THEMES().map(([each, label, Icon]) => (
        <button
          key={each}
          type="button"
          aria-label={label}
          aria-pressed={each === theme}
          title={label}
          onClick={() => {
            chooseTheme(each)
            setTheme(each)
          }}
          className={classNames(
            'flex size-11 items-center justify-center rounded-md md:size-8',
            each === theme ? 'bg-surface text-ink shadow-card' : 'text-muted hover:text-ink',
          )}
        >
          <Icon aria-hidden="true" className="size-4" />
        </button>
      ))}
    </div>
  )
}
