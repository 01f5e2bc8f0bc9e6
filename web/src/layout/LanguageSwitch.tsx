import { chooseLanguage } from '../language/chosen-language.ts'
import type { Language } from '../language/language.ts'
import { useLanguage } from '../language/use-language.ts'

/** Each is named in its own language, for those who do not read the other one. */
const OTHER = {
  'pt-BR': { language: 'en-US', lang: 'en', short: 'EN', name: 'EN: in English' },
  'en-US': { language: 'pt-BR', lang: 'pt-BR', short: 'PT', name: 'PT: em português' },
} as const

/** `onChoose`: by default the language of this browser changes, before sign-in. */
export function LanguageSwitch({
  onChoose = chooseLanguage,
}: {
  readonly onChoose?: (chosen: Language) => Promise<void>
}) {
  const other = OTHER[useLanguage()]
  return (
    <button
      type="button"
      lang={other.lang}
      aria-label={other.name}
      title={other.name}
      onClick={() => void onChoose(other.language)}
      className="flex size-11 items-center justify-center rounded-lg text-sm font-medium text-muted hover:bg-sunken hover:text-ink md:size-10"
    >
      {other.short}
    </button>
  )
}
