/** Formulas in an answer of the playground: what is one, and what a hostile one may draw. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import Markdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import {
  countTextsToRead,
  putFormulas,
  takeFormulas,
  type Formula,
} from '../../web/src/pages/playground/formulas.ts'
import { mathMlOf } from '../../web/src/pages/playground/math-ml.ts'

const texOf = (text: string): string[] => takeFormulas(text).formulas.map(({ tex }) => tex)
const draw = (tex: string): string => renderToStaticMarkup(mathMlOf(tex, true))

for (const [text, expected] of [
  ['Seja \\(a^2 + b^2\\) e \\[\nc = 1\n\\]', ['a^2 + b^2', '\nc = 1\n']],
  ['$$\\frac{1}{2}$$ e $$\nx\n+ y\n$$', ['\\frac{1}{2}', '\nx\n+ y\n']],
  [
    'Se $x$ é par, $n + 1$ não: $x_1$, ($2n$), **$\\pi$**, $f(x)$, $x > 0 \\text{ sempre}$.',
    ['x', 'n + 1', 'x_1', '2n', '\\pi', 'f(x)', 'x > 0 \\text{ sempre}'],
  ],
  ['| $|x|$ | $0 < x < 1$ |', ['|x|', '0 < x < 1']],
] as const)
  test(`is a formula: ${text}`, () => assert.deepEqual(texOf(text), expected))

for (const text of [
  'R$ 5 e R$ 10',
  'R$5 e R$10, ou US$5+US$6',
  '$5 and $10',
  'Custa $5, ou $10 em dólares.',
  'entre $5-$10 e ($5)-($10)',
  '$1 = R$ 5,43 e $1=R$5',
  '$5 or 10$, $5/month vs 10$, $5 e 10$',
  'de $100 a 200$',
  'echo $HOME:$PATH e $HOME$',
  'US$ 5 < US$ 6 (R$)',
  '$5$',
  '\\$x$ e $x\\$',
  '`$x$` e ``\\(x\\)``',
  '```tex\n$$x$$\n```',
  // Not ended, as while it is written.
  'Seja \\(a^2',
  '\\[\na',
  '$$\na^2',
  '$$a$',
  'Um $x',
  '$$a\n\nb$$',
  '\\\\(x\\\\)',
  '$$ $$',
])
  test(`is no formula: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(takeFormulas(text), { text, formulas: [] })
  })

/** The Markdown of a text, in which `<b>` is a formula, and `<i>` one of a block. */
function markdownOf(text: string): string {
  const taken = takeFormulas(text)
  const formula = ({ tex, isBlock }: Formula) => createElement(isBlock ? 'i' : 'b', null, tex)
  const options = { remarkPlugins: [remarkGfm, putFormulas(taken)], components: { formula } as {} }
  return renderToStaticMarkup(createElement(Markdown, options, taken.text))
}

test('a formula is put where it stood, with all its signs, and code keeps its text', () => {
  assert.equal(
    markdownOf(
      'Seja **$a_1$** e *b* e \\(a_1 * b_1 * c\\), [$x_1$](https://a.example/$x_1$ "$x_1$"):',
    ),
    '<p>Seja <strong><b>a_1</b></strong> e <em>b</em> e <b>a_1 * b_1 * c</b>, <a href="https://a.example/$x_1$" title="$x_1$"><b>x_1</b></a>:</p>',
  )
  assert.equal(
    markdownOf('Logo:\n$$\n- a\n+ b\n= c\n$$\nfim'),
    '<p>Logo:\n<i>\n- a\n+ b\n= c\n</i>\nfim</p>',
  )
  assert.equal(
    markdownOf('- a\n\n      $x$\n\n~~~\n$x$\n~~~'),
    '<ul>\n<li>\n<p>a</p>\n<pre><code>$x$\n</code></pre>\n</li>\n</ul>\n<pre><code>$x$\n</code></pre>',
  )
  assert.match(markdownOf('| a |\n| - |\n| $|x|$ |'), /<td><b>\|x\|<\/b><\/td>/)
  assert.equal(markdownOf('\uE0000\uE001 $x$'), '<p>\uE0000\uE001 $x$</p>')
})

test('a formula is MathML, and no more', () => {
  assert.equal(
    draw('\\frac{1}{x^2}'),
    '<math display="block" class="tml-display" style="display:block math"><mfrac><mn>1</mn><msup><mi>x</mi><mn class="tml-sml-pad">2</mn></msup></mfrac></math>',
  )
  assert.match(draw('\\text{<img src=x onerror=alert(1)>}'), /<mtext>&lt;img\ssrc=x/)
  for (const tex of [
    '\\begin{aligned} a &= b \\\\ &= c \\end{aligned}',
    '\\begin{pmatrix} 1 & 2 \\end{pmatrix}',
    '\\sum_{i=1}^n \\sqrt[3]{i}',
    '\\underbrace{a}_{n}',
    '\\boxed{x}',
    '\\cancel{x}',
    '\\tag{1} x',
  ])
    assert.match(draw(tex), /^<math /, tex)
})

const UNDRAWN = {
  'a link': '\\href{javascript:alert(1)}{x}',
  'an address': '\\url{https://a.example}',
  'an image': '\\includegraphics{https://a.example/a.png}',
  HTML: '\\htmlData{a=b}{x}',
  'a class': '\\class{fixed}{x}',
  'an id': '\\id{root}{x}',
  'a colour that is an address': '\\color{url(https://a.example)}x',
  'a macro that doubles': '\\def\\a{\\b\\b}\\def\\b{xx}\\a',
  'a macro without end': '\\newcommand{\\a}{\\a\\a}\\a',
  'another name for a macro': '\\let\\a\\frac \\a12',
  'too many steps': '\\dots'.repeat(800),
  'roots in roots': `${'\\sqrt{'.repeat(600)}x${'}'.repeat(600)}`,
  'braces without end': '{'.repeat(4_000),
  'a column that is repeated': '\\begin{array}{*{1000000}{c}}x\\end{array}',
  'no TeX': '\\frac{1',
}
for (const [name, tex] of Object.entries(UNDRAWN))
  test(`is shown as it is written: ${name}`, () => assert.equal(mathMlOf(tex, true), undefined))

test('what a formula says about its size is bounded', () => {
  assert.match(draw('\\rule{1000em}{1000em}'), / width="10em" height="10em"/)
})

test('of an answer with ever more formulas, the first are drawn', () => {
  assert.equal(countTextsToRead(['$x$', '\\(x\\)', 'R$ 5']), 3)
  assert.equal(countTextsToRead(Array.from({ length: 100_000 }, () => '$x$ $y$')), 1_000)
})

for (const text of ['$', '\\(', '\\[', '$$a', '$a ', '`$', '``'])
  test(`20 kB of ${text} are read at once`, () => {
    const from = performance.now()
    takeFormulas(text.repeat(20_000 / text.length))
    assert.ok(performance.now() - from < 2_000)
  })
