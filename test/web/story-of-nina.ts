/** The visitor of the story, in its test and in its pictures. */
import type { Story } from './visitor-story.ts'

export const STORY: Pick<Story, 'person' | 'taxId' | 'question'> = {
  person: {
    name: 'Nina Prado',
    email: 'nina@exemplo.com.br',
    password: 'uma frase bem comprida',
  },
  taxId: '52998224725',
  question: 'Quanto custa esta resposta?',
}
