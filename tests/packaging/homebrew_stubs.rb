# frozen_string_literal: true

# Runs a formula and its test without Homebrew: `ruby homebrew_stubs.rb FORMULA BIN FOLDER` prints what it declares and
# does as JSON. BIN has the programs, FOLDER is empty.
require "json"
require "pathname"

# Takes the declarations of a formula, and the calls of its install method.
class Formula
  class << self
    def told = (@told ||= {"depends_on" => []})

    %w[desc homepage url sha256 license].each do |name|
      define_method(name) { |value| told[name] = value }
    end

    def depends_on(what) = told["depends_on"] << (what.is_a?(Hash) ? what.keys.first : what)
    def uses_from_macos(what) = depends_on(what)
    def on_linux = yield
    def test(&block) = (block ? @test = block : @test)
  end

  attr_reader :bin, :testpath

  def initialize(bin, testpath)
    @bin = Pathname.new(bin)
    @testpath = Pathname.new(testpath)
  end

  def shell_output(command) = `#{command}`

  def assert_equal(expected, actual)
    raise "#{actual.inspect} is not #{expected.inspect}" unless expected == actual
  end

  def system(*words) = (self.class.told["commands"] ||= []) << words
  def std_cmake_args = ["-DCMAKE_BUILD_TYPE=Release"]

  # Where completions are installed.
  class Place
    def initialize(told) = @told = told
    def install(file) = @told << (file.is_a?(Hash) ? file.keys.first : file)
  end

  %w[bash zsh fish].each do |shell|
    define_method(:"#{shell}_completion") { Place.new(self.class.told["completions"] ||= []) }
  end
end

load ARGV.fetch(0)
formula = Skua.new(ARGV.fetch(1), ARGV.fetch(2))
formula.install
formula.instance_eval(&Skua.test)
puts JSON.generate(Skua.told)
